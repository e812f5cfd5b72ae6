import { ROOT_CONTEXT, trace } from "@opentelemetry/api"
import { W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  formatTraceparent,
  isBaggage,
  isTracestate,
  parseTraceparent,
} from "../../runtime/tracing/trace-context.ts"

const getter = {
  get: (carrier: Record<string, string>, key: string) => carrier[key],
  keys: (carrier: Record<string, string>) => Object.keys(carrier),
}

/** What the SDK of OpenTelemetry reads from the field. */
function readBySdk(traceparent: string) {
  const context = new W3CTraceContextPropagator().extract(ROOT_CONTEXT, { traceparent }, getter)
  const found = trace.getSpanContext(context)
  if (found === undefined) return undefined
  const { traceId, spanId, traceFlags } = found
  return { traceId, spanId, sampled: (traceFlags & 1) === 1 }
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const spanId = "00f067aa0ba902b7"
const valid = `00-${traceId}-${spanId}-01`

describe("traceparent", () => {
  test.each([
    ["sampled", valid, { traceId, spanId, sampled: true }],
    ["not sampled", `00-${traceId}-${spanId}-00`, { traceId, spanId, sampled: false }],
    ["with the random flag", `00-${traceId}-${spanId}-03`, { traceId, spanId, sampled: true }],
    ["of a later version", `01-${traceId}-${spanId}-01-more`, { traceId, spanId, sampled: true }],
    ["of version 00 with more", `${valid}-more`, undefined],
    ["of version ff", `ff-${traceId}-${spanId}-01`, undefined],
    ["in capitals", valid.toUpperCase(), undefined],
    ["without trace", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
    ["without span", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
    ["short", valid.slice(0, -1), undefined],
    ["twice", `${valid}, ${valid}`, undefined],
    ["empty", "", undefined],
  ])("%s", (_, text, expected) => {
    expect(parseTraceparent(text)).toEqual(expected)
  })

  test("is read as the SDK of OpenTelemetry reads it", () => {
    const edit = fc.tuple(
      fc.nat(valid.length),
      fc.constantFrom("", "0", "f", "A", "-", " ", "g", ","),
      fc.nat(3),
    )
    fc.assert(
      fc.property(
        fc.array(edit, { maxLength: 3 }),
        fc.constantFrom("00", "01", "fe", "ff"),
        (edits, version) => {
          let text = version + valid.slice(2)
          for (const [at, put, cut] of edits) text = text.slice(0, at) + put + text.slice(at + cut)
          // A field has no space at its ends, where the SDK allows it.
          expect(parseTraceparent(text.trim())).toEqual(readBySdk(text.trim()))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test("is written as it is read", () => {
    for (const sampled of [true, false])
      expect(parseTraceparent(formatTraceparent({ traceId, spanId, sampled }))).toEqual({
        traceId,
        spanId,
        sampled,
      })
  })
})

test.each([
  ["one member", "congo=t61rcWkgMzE", true],
  ["two members", "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE", true],
  ["a tenant and an empty member", "fw529a3039@dt=FfAAAAA,,a=b", true],
  ["no value", "a=", false],
  ["no key", "=a", false],
  ["a capital in the key", "A=b", false],
  ["an equals sign in the value", "a=b=c", false],
  ["a key twice", "a=b,a=c", false],
  ["32 members", Array.from({ length: 32 }, (_, index) => `k${index}=v`).join(","), true],
  ["33 members", Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(","), false],
  ["nothing", "", false],
])("tracestate with %s", (_, text, expected) => {
  expect(isTracestate(text)).toBe(expected)
})

test.each([
  ["one member", "user=alice", true],
  ["spaces and properties", "user = alice ; p1 ; p2 = x , tier=gold", true],
  ["percent-encoding", "name=Am%C3%A9lie", true],
  ["an empty value", "user=", true],
  ["no value", "user", false],
  ["a space in the value", "user=a b", false],
  ["a quote", 'user="a"', false],
  ["nothing", "", false],
  ["64 members", Array.from({ length: 64 }, (_, index) => `k${index}=v`).join(","), true],
  ["65 members", Array.from({ length: 65 }, (_, index) => `k${index}=v`).join(","), false],
  ["8,193 bytes", `a=${"b".repeat(8191)}`, false],
])("baggage with %s", (_, text, expected) => {
  expect(isBaggage(text)).toBe(expected)
})

test("what a valid baggage contains, the SDK of OpenTelemetry reads", () => {
  const text = "user=alice;p=1,tier=gold"
  const context = new W3CBaggagePropagator().extract(ROOT_CONTEXT, { baggage: text }, getter)
  const written: Record<string, string> = {}
  new W3CBaggagePropagator().inject(context, written, {
    set: (carrier, key, value) => (carrier[key] = value),
  })
  expect(isBaggage(written["baggage"] ?? "")).toBe(true)
})
