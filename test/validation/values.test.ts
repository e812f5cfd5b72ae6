import { describe, expect, test } from "vitest"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { formValue, multipartValue } from "../../runtime/validation/body-value.ts"
import { fitOf, mediaTypeOf } from "../../runtime/validation/media-type.ts"
import { pairsOf } from "../../runtime/validation/pairs.ts"
import {
  belongsTo,
  type ParameterForm,
  queryValue,
  textParameter,
} from "../../runtime/validation/parameter-value.ts"
import { shapeOf, textShape } from "../../runtime/validation/shape.ts"

const shape = (schema: ValueSchema) => shapeOf({ s: schema }, "s")
const integers = { type: "array", items: { type: "integer" } }
const point = { type: "object", properties: { x: { type: "number" }, tags: { type: "array", items: {} } } }

describe("parameters of a query", () => {
  test.each<[ParameterForm["style"], boolean, ValueSchema, string, unknown]>([
    ["form", true, { type: "integer" }, "p=5", { value: 5 }],
    ["form", true, { type: "integer" }, "p=five", { value: "five" }],
    ["form", true, { type: "integer" }, "p=05", { value: "05" }],
    ["form", true, { type: "boolean" }, "p=true", { value: true }],
    ["form", true, { type: ["integer", "null"] }, "p=", { value: null }],
    ["form", true, {}, "p=5", { value: "5" }],
    ["form", true, { anyOf: [{ type: "integer" }, { type: "string" }] }, "p=5", { value: "5" }],
    ["form", true, { type: "string" }, "q=5", undefined],
    ["form", true, { type: "string" }, "p=1&p=2", { problem: "is given more than once" }],
    ["form", true, integers, "p=1&p=2&%70=3", { value: [1, 2, 3] }],
    ["form", false, integers, "p=1,2,x", { value: [1, 2, "x"] }],
    ["form", false, { type: "array", items: { type: "string" } }, "p=a%2Cb,c+d", { value: ["a,b", "c d"] }],
    ["form", false, integers, "p=", { value: [] }],
    ["form", false, point, "p=x,1,y,2", { value: { x: 1, y: "2" } }],
    ["form", false, point, "p=x", { problem: "has a name without a value" }],
    ["form", true, point, "x=1&tags=a&tags=b&other=5", { value: { x: 1, tags: ["a", "b"] } }],
    ["form", true, point, "other=5", undefined],
    ["spaceDelimited", false, integers, "p=1%202+3", { value: [1, 2, 3] }],
    ["pipeDelimited", false, integers, "p=1|2%7C3", { value: [1, 2, 3] }],
    ["deepObject", true, point, "p[x]=1&p%5Btags%5D=a", { value: { x: 1, tags: ["a"] } }],
    ["deepObject", true, point, "p[x][y]=1", { problem: "has no property `p[x][y]`" }],
    ["deepObject", true, point, "p[__proto__]=1", { value: JSON.parse('{"__proto__":"1"}') }],
    ["json", false, point, "p=%7B%22x%22:1%7D", { value: { x: 1 } }],
    ["json", false, point, "p={x}", { problem: "must be JSON" }],
  ])("%s %s %j of %s", (style, explode, schema, query, expected) => {
    expect(queryValue({ name: "p", style, explode }, shape(schema), pairsOf(query))).toEqual(expected)
  })
})

test.each<[ParameterForm["style"], boolean, ValueSchema, string, boolean]>([
  ["form", true, { type: "string" }, "p", true],
  ["form", true, { type: "string" }, "x", false],
  ["form", true, point, "x", true],
  ["form", true, point, "y", false],
  ["form", true, { type: "object", additionalProperties: { type: "string" } }, "y", true],
  ["deepObject", true, point, "p[y]", true],
  ["deepObject", true, point, "p", false],
])("%s %s %j knows `%s`: %s", (style, explode, schema, name, known) => {
  expect(belongsTo({ name: "p", style, explode }, shape(schema), name)).toBe(known)
})

test("without a schema everything is text", () => {
  expect(queryValue({ name: "p", style: "form", explode: true }, textShape, pairsOf("p=1"))).toEqual({
    value: "1",
  })
})

describe("parameters that are one text", () => {
  test.each<[ParameterForm["style"], boolean, ValueSchema, string, unknown]>([
    ["simple", false, { type: "integer" }, "5", { value: 5 }],
    ["simple", false, integers, "1,2", { value: [1, 2] }],
    ["simple", true, point, "x=1,y=2", { value: { x: 1, y: "2" } }],
    ["label", false, integers, ".1,2", { value: [1, 2] }],
    ["label", true, integers, ".1.2", { value: [1, 2] }],
    ["label", true, integers, "1", { problem: "must begin with a dot" }],
  ])("%s %s %j of %s", (style, explode, schema, text, expected) => {
    expect(textParameter({ name: "p", style, explode }, shape(schema), text)).toEqual(expected)
  })
})

describe("forms", () => {
  test("fields get the types their schema has a place for", () => {
    expect(formValue("x=1.5&tags=a&name=A+B%21", shape(point))).toEqual({
      value: { x: 1.5, tags: ["a"], name: "A B!" },
    })
    expect(formValue("a&".repeat(1001), shape({}))).toEqual({ problem: "has more than 1000 fields" })
  })

  const multipart = (...parts: string[]): Buffer =>
    Buffer.from(`preamble\r\n--b 1\r\n${parts.join("\r\n--b 1\r\n")}\r\n--b 1--\r\nepilogue`, "latin1")
  const type = 'multipart/form-data; boundary="b 1"'

  test("parts: text, files, JSON", () => {
    const body = multipart(
      'Content-Disposition: form-data; name="x"\r\n\r\n1.5',
      'content-disposition: form-data; name="file"; filename="a \\"b\\".bin"\r\nContent-Type: image/png\r\n\r\n\xff\r\n--b\x00',
      'Content-Disposition: form-data; name=meta\r\nContent-Type: application/json\r\n\r\n{"a":[1]}',
      'Content-Disposition: form-data; name="tags"\r\n\r\n',
    )
    expect(multipartValue(body, type, shape(point))).toEqual({
      value: { x: 1.5, file: "\xff\r\n--b\x00", meta: { a: [1] }, tags: [""] },
    })
  })

  test.each([
    [
      "no boundary",
      multipart("Content-Disposition: form-data; name=a\r\n\r\n1"),
      "multipart/form-data",
      "boundary",
    ],
    [
      "no end",
      Buffer.from("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1"),
      "multipart/form-data; boundary=b",
      "end",
    ],
    ["no name", multipart("Content-Disposition: form-data\r\n\r\n1"), type, "name"],
    ["no head", multipart("1"), type, "head"],
    [
      "bad JSON",
      multipart("Content-Disposition: form-data; name=a\r\nContent-Type: application/json\r\n\r\n{"),
      type,
      "JSON",
    ],
    [
      "too many",
      multipart(...new Array(1001).fill("Content-Disposition: form-data; name=a\r\n\r\n1")),
      type,
      "1000",
    ],
  ])("%s is a mistake of the form", (_, body, contentType, expected) => {
    expect(multipartValue(body, contentType, shape({}))).toEqual({
      problem: expect.stringContaining(expected),
    })
  })
})

test.each([
  ["application/json", "application/JSON; charset=utf-8", 3],
  ["application/json; charset=utf-8", "application/json", 3],
  ["application/vnd.a+json; version=2", 'application/vnd.a+json;version="2"', 4],
  ["application/vnd.a+json; version=2", "application/vnd.a+json", 0],
  ["application/*", "application/json", 2],
  ["*/*", "text/plain", 1],
  ["*", "text/plain", 1],
  ["text/plain", "text/html", 0],
])("%s takes %s: %d", (range, type, fit) => {
  const read = mediaTypeOf(range)
  const given = mediaTypeOf(type)
  expect(read === undefined || given === undefined ? undefined : fitOf(read, given)).toBe(fit)
})
