import fc from "fast-check"

/** A call of one of `keys` callers, `gap` milliseconds after the last one, of a limit of `max` per minute. */
export const randomCall = (keys: number) =>
  fc.record({
    key: fc.integer({ min: 0, max: keys - 1 }),
    gap: fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.constantFrom(0, 60_000, 59_999, 61_000, 1000),
    ),
    amount: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(70_000_000, 5_000_000_000)),
    max: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(9_000_000_000)),
  })
