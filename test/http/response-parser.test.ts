import { describe, expect, test } from "vitest"
import { ResponseParser } from "../../runtime/http/client/http1/response-parser.ts"
import { cut, type Reading, read } from "./reading.ts"

const ok = "HTTP/1.1 200 OK\r\n"

interface Row {
  readonly name: string
  readonly bytes: string
  readonly toHead?: boolean
  readonly is: Partial<Reading> | { readonly error: RegExp }
}

const good: Row[] = [
  {
    name: "a length",
    bytes: `${ok}Content-Length: 2\r\n\r\nhi`,
    is: { status: 200, body: "hi", whole: true, clean: true, fields: ["Content-Length", "2"] },
  },
  { name: "no body", bytes: `${ok}Content-Length: 0\r\n\r\n`, is: { body: "", whole: true, clean: true } },
  {
    name: "chunks",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n00A;a=b;c="d"\r\n0123456789\r\n0\r\n\r\n`,
    is: { body: "hi0123456789", whole: true, clean: true, trailers: [] },
  },
  {
    name: "a trailer that would say where the message ends",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-A: 1\r\nContent-Length: 999\r\ntransfer-encoding: gzip\r\n\r\n`,
    is: { body: "hi", whole: true, clean: true, trailers: ["X-A", "1"] },
  },
  {
    name: "trailers",
    bytes: `${ok}transfer-encoding: Chunked\r\n\r\n0\r\nX-A: 1\r\nx-b:2\r\n\r\n`,
    is: { body: "", whole: true, trailers: ["X-A", "1", "x-b", "2"] },
  },
  {
    name: "until the connection ends",
    bytes: `${ok}\r\nall of it`,
    is: { body: "all of it", whole: true },
  },
  { name: "HTTP/1.0", bytes: "HTTP/1.0 200\r\n\r\nold", is: { status: 200, body: "old", whole: true } },
  {
    name: "no reason",
    bytes: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n",
    is: { status: 404, whole: true },
  },
  {
    name: "informational answers before it",
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
    is: { status: 200, body: "a", whole: true, fields: ["Content-Length", "1"] },
  },
  {
    name: "an answer to HEAD",
    bytes: `${ok}Content-Length: 5\r\n\r\n`,
    toHead: true,
    is: { body: "", whole: true, clean: true },
  },
  {
    name: "204, 304",
    bytes: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    is: { status: 304, body: "", whole: true, clean: true },
  },
  {
    name: "a second answer behind it",
    bytes: `${ok}Content-Length: 2\r\n\r\nhi${ok}Content-Length: 0\r\n\r\n`,
    is: { body: "hi", whole: true, clean: false },
  },
  {
    name: "bytes behind chunks",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nX`,
    is: { whole: true, clean: false },
  },
  {
    name: "blanks around values, empty values, bytes beyond ASCII",
    bytes: `${ok}A: \t b \t\r\nB:\r\nC: \xe4\xff\r\nContent-Length: 0\r\n\r\n`,
    is: { fields: ["A", "b", "B", "", "C", "\xe4\xff", "Content-Length", "0"], whole: true },
  },
  {
    name: "a body that is too short",
    bytes: `${ok}Content-Length: 9\r\n\r\nhi`,
    is: { body: "hi", whole: false },
  },
  {
    name: "chunks without an end",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n`,
    is: { body: "hi", whole: false },
  },
]

const length = /Content-Length/
const bad: Row[] = [
  { name: "another protocol", bytes: "ICY 200 OK\r\n\r\n", is: { error: /begin with HTTP/ } },
  { name: "HTTP/2", bytes: "HTTP/2.0 200 OK\r\n\r\n", is: { error: /begin with HTTP/ } },
  { name: "an empty line first", bytes: `\r\n${ok}\r\n`, is: { error: /begin with HTTP/ } },
  { name: "two digits", bytes: "HTTP/1.1 20 OK\r\n\r\n", is: { error: /three digits/ } },
  { name: "four digits", bytes: "HTTP/1.1 2000 OK\r\n\r\n", is: { error: /three digits/ } },
  { name: "no status", bytes: "HTTP/1.1 OK\r\n\r\n", is: { error: /three digits/ } },
  { name: "status 600", bytes: "HTTP/1.1 600 X\r\n\r\n", is: { error: /status is 600/ } },
  { name: "status 099", bytes: "HTTP/1.1 099 X\r\n\r\n", is: { error: /status is 99/ } },
  { name: "101", bytes: "HTTP/1.1 101 Switching\r\n\r\n", is: { error: /without an upgrade request/ } },
  {
    name: "an informational answer that ends the connection",
    bytes: `HTTP/1.1 103 X\r\nConnection: close\r\n\r\n${ok}\r\n`,
    is: { error: /informational/ },
  },
  { name: "a control character in the reason", bytes: "HTTP/1.1 200 O\0K\r\n\r\n", is: { error: /reason/ } },
  { name: "a bare CR in the reason", bytes: "HTTP/1.1 200 O\rK\r\n\r\n", is: { error: /reason/ } },
  { name: "LF alone", bytes: "HTTP/1.1 200 OK\nA: b\n\n", is: { error: /CRLF/ } },
  { name: "LF alone behind a field", bytes: `${ok}A: b\nB: c\r\n\r\n`, is: { error: /CRLF/ } },
  { name: "CR alone behind a field", bytes: `${ok}A: b\rB: c\r\n\r\n`, is: { error: /CRLF/ } },
  { name: "a folded line", bytes: `${ok}A: b\r\n c\r\n\r\n`, is: { error: /not a field/ } },
  { name: "a blank before the colon", bytes: `${ok}A : b\r\n\r\n`, is: { error: /not a field/ } },
  { name: "a field without a name", bytes: `${ok}: b\r\n\r\n`, is: { error: /not a field/ } },
  { name: "a line without a colon", bytes: `${ok}A\r\n\r\n`, is: { error: /not a field/ } },
  { name: "a name beyond ASCII", bytes: `${ok}\xe4: b\r\n\r\n`, is: { error: /not a field/ } },
  { name: "NUL in a value", bytes: `${ok}A: b\0\r\n\r\n`, is: { error: /control character/ } },
  { name: "DEL in a value", bytes: `${ok}A: \x7f\r\n\r\n`, is: { error: /control character/ } },
  {
    name: "two lengths",
    bytes: `${ok}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
    is: { error: length },
  },
  { name: "a list of lengths", bytes: `${ok}Content-Length: 1, 1\r\n\r\na`, is: { error: length } },
  { name: "a signed length", bytes: `${ok}Content-Length: +1\r\n\r\na`, is: { error: length } },
  { name: "a length in hex", bytes: `${ok}Content-Length: 0x1\r\n\r\na`, is: { error: length } },
  { name: "no length at all", bytes: `${ok}Content-Length:\r\n\r\na`, is: { error: length } },
  {
    name: "length and chunks",
    bytes: `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    is: { error: /Content-Length and Transfer-Encoding/ },
  },
  {
    name: "another coding",
    bytes: `${ok}Transfer-Encoding: gzip\r\n\r\n`,
    is: { error: /Transfer-Encoding/ },
  },
  {
    name: "a coding behind another",
    bytes: `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    is: { error: /Transfer-Encoding/ },
  },
  {
    name: "chunked twice",
    bytes: `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    is: { error: /Transfer-Encoding/ },
  },
  {
    name: "chunks in HTTP/1.0",
    bytes: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    is: { error: /Transfer-Encoding/ },
  },
  ...[
    ["a size that is none", "zz\r\nhi\r\n"],
    ["no size", "\r\nhi\r\n"],
    ["a signed size", "-2\r\nhi\r\n"],
    ["a size with 0x", "0x2\r\nhi\r\n"],
    ["a blank behind the size", "2 \r\nhi\r\n"],
    ["a size too large", "FFFFFFFFFFFFFF\r\nhi\r\n"],
    ["LF alone behind the size", "2\nhi\r\n"],
    ["CR alone behind the size", "2\rhi\r\n"],
    ["more than the size", "2\r\nhih\r\n"],
    ["LF alone behind the chunk", "2\r\nhi\n0\r\n\r\n"],
    ["a control character in an extension", "2;\0\r\nhi\r\n"],
    ["LF alone in an extension", "2;a\nhi\r\n"],
    ["a trailer that is none", "0\r\nA b\r\n\r\n"],
    ["a folded trailer", "0\r\nA: b\r\n c\r\n\r\n"],
  ].map(([name = "", chunks = ""]) => ({
    name: `chunks: ${name}`,
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n${chunks}`,
    is: { error: /chunk|field|trailer|CRLF/ },
  })),
  {
    name: "a head without an end",
    bytes: `${ok}${"A: b\r\n".repeat(12_000)}`,
    is: { error: /head is too long/ },
  },
  {
    name: "trailers without an end",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${"A: b\r\n".repeat(12_000)}`,
    is: { error: /trailers are too long/ },
  },
  {
    name: "extensions without an end",
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n${"1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\na\r\n".repeat(1000)}`,
    is: { error: /extension/ },
  },
]

function requireReading(found: Reading, { is }: Row): void {
  if (is.error instanceof RegExp) {
    expect(found.error).toMatch(is.error)
    expect(found.whole).toBe(false)
  } else {
    expect(found.error).toBeUndefined()
    expect(found).toMatchObject(is)
  }
}

describe("answers", () => {
  test.each(good)("$name", (row) => {
    const bytes = Buffer.from(row.bytes, "latin1")
    const how = { toHead: row.toHead === true }
    requireReading(read([bytes], how), row)
    // Behind an answer that is over the connection sees no more of what comes: whether it is clean is known in one piece only.
    const { clean: _clean, ...rest } = row.is as Partial<Reading>
    for (let place = 1; place < bytes.length; place += 1)
      requireReading(read(cut(bytes, [place]), how), { ...row, is: rest })
    requireReading(read(cut(bytes, [...bytes.keys()]), how), { ...row, is: rest })
  })
})

describe("what is not an answer", () => {
  test.each(bad)("$name", (row) => {
    const bytes = Buffer.from(row.bytes, "latin1")
    requireReading(read([bytes]), row)
    if (bytes.length > 1000) return
    for (let place = 1; place < bytes.length; place += 1) {
      const { error, whole } = read(cut(bytes, [place]))
      expect({ place, error, whole }).toMatchObject({ error: expect.any(String), whole: false })
    }
  })

  test("bytes that nobody asked for", () => {
    const parser = new ResponseParser({ onHead: never, onBody: never, onMessageEnd: never })
    expect(() => parser.push(Buffer.from(`${ok}Content-Length: 0\r\n\r\n`))).toThrow(/no request for it/)
  })
})

function never(): void {
  throw new Error("nothing is to be found")
}
