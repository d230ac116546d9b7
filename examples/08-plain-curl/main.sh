# The whole round with curl: an agent that uses no SDK is registered, found, hired and paid.
#   HUB=http://127.0.0.1:4600 bash main.sh     (a hub: npm start -- hub)
set -euo pipefail
cd "$(dirname "$0")"
HUB=${HUB:-http://127.0.0.1:4600}
JSON='content-type: application/json'
AGENT=$(node -p 'crypto.randomUUID()')
JOB=$(node -p 'crypto.randomUUID()')
export AGENT

# Thirty lines of node:http, on a free port; it prints where it is.
coproc PLAIN { PORT=0 exec node agent.mjs; }
trap 'kill $PLAIN_PID' EXIT
read -r ENDPOINT <&"${PLAIN[0]}"

echo '# register'
curl -sS "$HUB/register" -H "$JSON" -d '{
  "agent_id": "'"$AGENT"'", "agent_name": "Plain", "owner_id": "bolt", "api_endpoint": "'"$ENDPOINT"'",
  "skills": [{ "skill_name": "word_count", "cost_per_call": 0.05, "input_schema": { "text": "string" } }]
}'
echo; echo '# find it'
curl -sS "$HUB/discover?skill=word_count&max_cost=0.10"
echo; echo '# hire it, twice: it is one job'
ASK='{ "job_id": "'"$JOB"'", "orchestrator_id": "acme", "skill_name": "word_count",
  "input_data": { "text": "no package was installed for this" }, "budget": 0.10, "currency": "chorus_credits_v1" }'
curl -sS "$ENDPOINT" -H "$JSON" -d "$ASK"
echo; curl -sS "$ENDPOINT" -H "$JSON" -d "$ASK"
echo; echo '# pay'
curl -sS "$HUB/accounts" -H "$JSON" -d '{ "owner_id": "acme" }'
echo; curl -sS "$HUB/transfer" -H "$JSON" -d '{ "transfer_id": "'"$JOB"'", "job_id": "'"$JOB"'",
  "from_owner": "acme", "to_owner": "bolt", "amount": 0.05 }'
echo; echo '# say how it went, and leave'
curl -sS -X POST "$HUB/reputation/$AGENT/success?job_id=$JOB"
echo; curl -sS -X DELETE "$HUB/agents/$AGENT"
echo
