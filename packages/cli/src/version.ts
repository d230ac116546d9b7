/** Of this program, and of the packages that go with it. */
export const VERSION = '0.1.0'
