import { absentClass } from "./absent.ts"

// `node:dns`: backends are doubles.

export const Resolver = absentClass("dns.Resolver")
