import { absent } from "./absent.ts"

// `node:dns/promises`: backends are doubles.

export const lookup = absent("dns.lookup")
