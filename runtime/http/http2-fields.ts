import type { OutgoingHttpHeaders } from "node:http2"

/**
 * Without a prototype of its own, so that a field may be called `constructor` or `__proto__`. V8 makes an object of `Object.create(null)` a hash table,
 * which Node's copy of the fields reads at three times the cost (13 fields: 5.6 µs with it, 1.7 with an object of this class).
 */
class Fields {}
Object.setPrototypeOf(Fields.prototype, null)
Reflect.deleteProperty(Fields.prototype, "constructor")

/** An empty head or trailer section of HTTP/2. */
export function newFields(): OutgoingHttpHeaders {
  return new Fields() as OutgoingHttpHeaders
}
