import { absent } from "./absent.ts"

// `node:http2`: backends are doubles.

export const constants = {}
export const connect = absent("http2.connect")
