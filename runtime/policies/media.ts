/** Content-Type of the bodies a plan can make. JSON is UTF-8 by definition (RFC 8259 §8.1) and has no charset. */
export const contentTypes = { json: "application/json", text: "text/plain; charset=utf-8" } as const
