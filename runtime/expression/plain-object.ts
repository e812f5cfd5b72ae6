function Plain(this: object): void {}
// Frozen and without `constructor`, `__proto__` and similar names: nothing is inherited, and every property is the object's own.
Plain.prototype = Object.freeze(Object.create(null))

/**
 * An object that can have any name as a key, like `Object.create(null)`. V8 keeps the latter as a hash table. For these objects, reading names known at
 * compile time is as fast as reading fields, and creation takes a third less time.
 */
export function plainObject<V>(): Record<string, V> {
  return new (Plain as unknown as new () => Record<string, V>)()
}

/** Whether the value has only own keys: a JSON object, one from `plainObject`, or one without a prototype. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Plain.prototype || prototype === null
}
