import { absent, absentClass } from "./absent.ts"

// `node:http`: names and their rules only.

/** Of the status codes with which a gateway responds itself (RFC 9110 §15). */
export { STATUS_CODES } from "./status-codes.ts"

/** RFC 9110 §5.6.2. @throws TypeError */
export function validateHeaderName(name: string): void {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
    throw Object.assign(new TypeError(`Header name must be a valid HTTP token ["${name}"]`), {
      code: "ERR_INVALID_HTTP_TOKEN",
    })
}

/** RFC 9110 §5.5. @throws TypeError */
export function validateHeaderValue(name: string, value: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw Object.assign(new TypeError(`Invalid character in header content ["${name}"]`), {
      code: "ERR_INVALID_CHAR",
    })
}

export const ServerResponse = absentClass("http.ServerResponse")
export const request = absent("http.request")
