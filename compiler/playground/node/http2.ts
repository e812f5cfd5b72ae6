import { absent } from "./absent.ts"

// `node:http2`: backends are doubles.

export const constants = {}
export const connect = absent("http2.connect")

/** Only fields that are sent over a connection read it. */
export const sensitiveHeaders = Symbol("http2.sensitiveHeaders")
