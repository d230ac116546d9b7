/** The content fleet: six agents, and the campaigns that they run together. */
export { RunCampaignInput, RunCampaignOutput } from './campaign/asked.ts'
export { type Fleet, type FleetOptions, startFleet } from './fleet.ts'
export { isRole, PRICES, type Prices, ROLES, type Role } from './roles.ts'
