// Node.js has these tests in `node:net`, which a browser lacks. The expressions are Node's own, so that both say the same.

const byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)"
const four = `(?:${byte}\\.){3}${byte}`
const group = "(?:[0-9a-fA-F]{1,4})"

const fourPattern = new RegExp(`^${four}$`)
const sixPattern = new RegExp(
  `^(?:${[
    `(?:${group}:){7}(?:${group}|:)`,
    `(?:${group}:){6}(?:${four}|:${group}|:)`,
    `(?:${group}:){5}(?::${four}|(?::${group}){1,2}|:)`,
    `(?:${group}:){4}(?:(?::${group}){0,1}:${four}|(?::${group}){1,3}|:)`,
    `(?:${group}:){3}(?:(?::${group}){0,2}:${four}|(?::${group}){1,4}|:)`,
    `(?:${group}:){2}(?:(?::${group}){0,3}:${four}|(?::${group}){1,5}|:)`,
    `(?:${group}:){1}(?:(?::${group}){0,4}:${four}|(?::${group}){1,6}|:)`,
    `(?::(?:(?::${group}){0,5}:${four}|(?::${group}){1,7}|:))`,
  ].join("|")})(?:%[0-9a-zA-Z-.:]{1,})?$`,
)

/** Whether a text is an IPv4 address: four numbers from 0 to 255 without leading zeros. */
export function isIPv4(text: string): boolean {
  return fourPattern.test(text)
}

/** Whether a text is an IPv6 address, with or without a zone. */
export function isIPv6(text: string): boolean {
  return sixPattern.test(text)
}

/** The version of an address, 4 or 6; 0 for any other text. */
export function isIP(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4
  return isIPv6(text) ? 6 : 0
}
