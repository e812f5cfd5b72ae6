import { describe, expect, test } from "vitest"
import type { ValueSchema } from "../../runtime/plan/value-schema.ts"
import { type FieldForm, formValue, multipartValue } from "../../runtime/validation/body-value.ts"
import { fitOf, mediaTypeOf } from "../../runtime/validation/media-type.ts"
import { pairsOf } from "../../runtime/validation/pairs.ts"
import {
  belongsTo,
  cookieValue,
  headerValue,
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
    [
      "form",
      true,
      { type: "object", additionalProperties: { type: "integer" } },
      "a=5&b=x",
      { value: { a: 5, b: "x" } },
    ],
    ["form", true, { ...point, additionalProperties: false }, "x=1&other=5", { value: { x: 1 } }],
    ["spaceDelimited", false, integers, "p=1%202+3", { value: [1, 2, 3] }],
    ["pipeDelimited", false, integers, "p=1|2%7C3", { value: [1, 2, 3] }],
    ["deepObject", true, point, "p[x]=1&p%5Btags%5D=a", { value: { x: 1, tags: ["a"] } }],
    ["deepObject", true, point, "p[x][y]=1", { problem: "has no property `p[x][y]`" }],
    ["deepObject", true, point, "p[tags][]=a&p[tags][]=b", { value: { tags: ["a", "b"] } }],
    ["deepObject", true, point, "p[tags][1]=a&p[tags][0]=b", { value: { tags: ["a", "b"] } }],
    ["deepObject", true, integers, "p[0]=1&p[1]=x", { value: [1, "x"] }],
    [
      "deepObject",
      true,
      { type: "array", items: point },
      "p[0][x]=1&p[0][tags]=a",
      { value: [{ x: 1, tags: ["a"] }] },
    ],
    ["deepObject", true, point, "p[tags][a]=1", { problem: "has no property `p[tags][a]`" }],
    ["deepObject", true, point, "p[x]=1&p[x][y]=1", { problem: "has no property `p[x][y]`" }],
    ["deepObject", true, point, "p[x=1", { problem: "has no property `p[x`" }],
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

test.each<[ValueSchema, boolean, readonly string[], unknown]>([
  [integers, false, ["1, 2", "3"], { value: [1, 2, 3] }],
  [{ type: "string" }, false, ["a, b"], { value: "a, b" }],
  [point, true, ["x=1 , y=2"], { value: { x: 1, y: "2" } }],
])("a header of %j, explode %s, with the lines %j", (schema, explode, lines, expected) => {
  expect(headerValue({ name: "p", style: "simple", explode }, shape(schema), lines)).toEqual(expected)
})

test.each<[ParameterForm["style"], ValueSchema, readonly string[], unknown]>([
  ["form", { type: "integer" }, [], undefined],
  ["form", { type: "string" }, ["a%20b+c"], { value: "a b+c" }],
  ["form", { type: "string" }, ["a%"], { value: "a%" }],
  ["form", { type: "string" }, ["a", "b"], { problem: "is given more than once" }],
  ["form", integers, ["1", "2"], { value: [1, 2] }],
  ["form", integers, ["1%2C2"], { value: [1, 2] }],
  ["json", point, ["%7B%22x%22%3A1%7D"], { value: { x: 1 } }],
  ["json", point, ['{"x":1,"x":2}'], { problem: "has the key `x` twice in one object" }],
])("a cookie %s of %j with the values %j", (style, schema, values, expected) => {
  expect(cookieValue({ name: "p", style, explode: true }, shape(schema), values)).toEqual(expected)
})

describe("forms", () => {
  test("fields get the types their schema has a place for", () => {
    expect(formValue("x=1.5&tags=a&name=A+B%21", shape(point))).toEqual({
      value: { x: 1.5, tags: ["a"], name: "A B!" },
      violations: [],
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
      violations: [],
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

  const field = (
    name: string,
    style: ParameterForm["style"],
    explode: boolean,
    ...media: string[]
  ): FieldForm => ({
    name,
    style,
    explode,
    media,
  })
  const order = {
    type: "object",
    properties: { ids: integers, at: point, all: { type: "array", items: point } },
  }

  test.each<[string, readonly FieldForm[], unknown, readonly string[]]>([
    ["ids=1&ids=2", [], { ids: [1, 2] }, []],
    ["ids=1,2", [field("ids", "form", false)], { ids: [1, 2] }, []],
    ["ids=1|2", [field("ids", "pipeDelimited", false)], { ids: [1, 2] }, []],
    ["ids=1&ids=2", [field("ids", "form", false)], {}, ["/ids is given more than once"]],
    ["at[x]=1&at[tags][]=a", [field("at", "deepObject", true)], { at: { x: 1, tags: ["a"] } }, []],
    ["at=%7B%22x%22:1%7D", [], { at: { x: 1 } }, []],
    ["at=%7B%22x%22:1,%22x%22:2%7D", [], { at: '{"x":1,"x":2}' }, []],
    ["all=%7B%22x%22:1%7D&all=x", [], { all: [{ x: 1 }, "x"] }, []],
    ["at=x", [], { at: "x" }, []],
    ["__proto__=1", [], JSON.parse('{"__proto__":"1"}'), []],
  ])("%s by %j", (text, fields, value, violations) => {
    const read = formValue(text, shape(order), fields)
    if ("problem" in read) throw new Error(read.problem)
    expect(read.value).toEqual(value)
    expect(read.violations.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual(violations)
  })

  const part = (name: string, head: string, content: string): string =>
    `Content-Disposition: form-data; name="${name}"${head}\r\n\r\n${content}`
  test.each<[string, readonly string[], readonly FieldForm[], unknown, readonly string[]]>([
    ["a list in one part", [part("ids", "", "1,2")], [field("ids", "form", false)], { ids: [1, 2] }, []],
    ["a list of parts", [part("ids", "", "1"), part("ids", "", "2")], [], { ids: [1, 2] }, []],
    [
      "JSON that says it is",
      [part("at", "\r\nContent-Type: application/json", '{"x":1}')],
      [],
      { at: { x: 1 } },
      [],
    ],
    ["JSON that does not", [part("at", "", '{"x":1}')], [], { at: { x: 1 } }, []],
    ["no JSON", [part("at", "\r\nContent-Type: application/json", "{")], [], {}, ["/at must be JSON"]],
    [
      "another type of part",
      [part("at", "\r\nContent-Type: text/html", "x")],
      [field("at", "form", true, "image/*", "application/json")],
      { at: "x" },
      ["/at has a Content-Type that is not expected"],
    ],
    [
      "a range of types",
      [part("f", '; filename=""\r\nContent-Type: image/png', "x")],
      [field("f", "form", true, "image/*")],
      { f: "x" },
      [],
    ],
    ["text that is no UTF-8", [part("f", "", "\xff")], [], {}, ["/f is not UTF-8"]],
    // The two are one name to whoever is behind.
    [
      "a text and a file of one name",
      [part("f", "", "a"), part("f", "; filename=b", "b")],
      [],
      { f: ["a", "b"] },
      [],
    ],
  ])("parts: %s", (_, parts, fields, value, violations) => {
    const read = multipartValue(multipart(...parts), type, shape(order), fields)
    if ("problem" in read) throw new Error(read.problem)
    expect(read.value).toEqual(value)
    expect(read.violations.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual(violations)
  })

  const named = (disposition: string, fields = ""): Buffer =>
    multipart(`Content-Disposition: form-data${disposition}${fields}\r\n\r\n1`)
  test.each<[string, Buffer, string, string]>([
    ["two boundaries", named("; name=a"), `multipart/form-data; boundary=x; boundary="b 1"`, "boundary"],
    [
      "a boundary in another parameter",
      named("; name=a"),
      'multipart/form-data; x="; boundary=b 1"',
      "boundary",
    ],
    ["a name twice", named("; name=a; name=b"), type, "name"],
    ["a name in the name of a file", named('; filename="; name=b"'), type, "name"],
    ["a name in another coding", named("; name=a; name*=UTF-8''b"), type, "name"],
    ["a disposition twice", named("; name=a", '\r\nContent-Disposition: form-data; name="b"'), type, "twice"],
    ["a folded field", named(";\r\n name=a"), type, "broken head"],
    ["another charset", named("; name=a", "\r\nContent-Type: text/plain; charset=utf-16"), type, "charset"],
    ["base64", named("; name=a", "\r\nContent-Transfer-Encoding: base64"), type, "transfer"],
    [
      "a delimiter behind a line feed",
      named("; name=a", "\r\n\r\n\n--b 1\nContent-Disposition: form-data; name=b"),
      type,
      "delimiter",
    ],
    ["parts behind the end", Buffer.concat([named("; name=a"), named("; name=b")]), type, "delimiter"],
  ])("%s: readers disagree, so it is a mistake", (_, body, contentType, expected) => {
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
  ["application/*+json", "application/vnd.a+json", 2.5],
  ["application/*+json", "application/json", 0],
  ["*/*+json", "model/gltf+json", 2.5],
  ["*/*", "text/plain", 1],
  ["*", "text/plain", 1],
  ["text/plain", "text/html", 0],
  ["application/json", "application/json;", 3],
  ["application/json", "application/json; charset=a; charset=b", undefined],
  ["application/json", 'application/json; a="b', undefined],
  ["application/json", "application/json, text/plain", undefined],
])("%s takes %s: %d", (range, type, fit) => {
  const read = mediaTypeOf(range)
  const given = mediaTypeOf(type)
  expect(read === undefined || given === undefined ? undefined : fitOf(read, given)).toBe(fit)
})
