import { request } from "node:http"
import { Duplex } from "node:stream"
import { expect, test } from "vitest"
import { Random } from "../naive/random.ts"
import { firstSeed, scaled } from "../support/random-run.ts"
import { cut, type Reading, read } from "./reading.ts"

const count = scaled(10_000, 0.4)

/** What Node's own client, whose parser is llhttp, makes of the bytes. */
function readByNode(bytes: Buffer): Promise<Reading> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() })
    const sent = request({
      createConnection: () => socket as never,
      method: "GET",
      path: "/",
      headers: { host: "a" },
    })
    sent.on("error", (error) => resolve({ whole: false, error: error.message }))
    sent.on("upgrade", () => resolve({ whole: false, error: "upgrade" }))
    sent.on("response", (answer) => {
      let body = ""
      const found = () => ({
        status: answer.statusCode ?? 0,
        fields: answer.rawHeaders,
        body,
        trailers: answer.rawTrailers,
        whole: answer.complete,
      })
      answer.on("data", (chunk: Buffer) => {
        body += chunk.toString("latin1")
      })
      answer.on("error", (error) => resolve({ ...found(), whole: false, error: error.message }))
      answer.on("end", () => resolve(found()))
    })
    sent.end()
    process.nextTick(() => {
      socket.push(bytes)
      socket.push(null)
    })
  })
}

const ok = "HTTP/1.1 200 OK\r\n"
const whole: readonly string[] = [
  `${ok}Content-Length: 2\r\n\r\nhi`,
  `${ok}Content-Type: text/plain\r\nContent-Length: 5\r\nX-A: b c\r\n\r\nhello`,
  `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nA\r\n0123456789\r\n0\r\n\r\n`,
  `${ok}Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n1;a=b\r\nx\r\n0\r\nX-T: 1\r\n\r\n`,
  `${ok}Connection: close\r\n\r\nuntil the end`,
  "HTTP/1.0 404 Not Found\r\nServer: x\r\n\r\nold",
  "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
  "HTTP/1.1 204 No Content\r\n\r\n",
  `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
]

const pieces = [
  ...'\r\n\t :;,=0129aAfFxX-+"\0\x7f\xe4',
  "\r\n",
  "\n",
  "\r",
  "\r\n ",
  " ",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip\r\n",
  "chunked, ",
  "0\r\n\r\n",
  "HTTP/1.1 200 OK\r\n",
  "FFFFFFFFFFFFFFFF",
]

/** Where the other reads what we refuse; each of them could be understood in two ways, or is of no use to anybody. */
const stricter: readonly RegExp[] = [
  /two Content-Length/,
  /Content-Length is not a number/,
  /Transfer-Encoding is not `chunked` alone/,
  /Content-Length and Transfer-Encoding/,
  /status is \d+/,
  /three digits/,
  /begin with HTTP/,
  /reason has a control/,
  /control character, or its line does not end in CRLF/,
  /not a field/,
  /chunk has no size/,
  /chunk is too large/,
  /extension is invalid/,
  /chunk's size does not end/,
  /chunk does not end/,
  /without an upgrade request/,
  /informational answer/,
  /tab next to/,
]

const framing = /^(content-length|transfer-encoding)$/i

test(`${count} broken answers: never more than llhttp reads, and where both read, the same`, async () => {
  const random = new Random(firstSeed)
  const refused = new Map<string, number>()
  let both = 0
  for (let at = 0; at < count; at += 1) {
    let text = random.pick(whole)
    for (let times = random.below(3); times >= 0; times -= 1) {
      const place = random.below(text.length)
      text = text.slice(0, place) + random.pick(pieces) + text.slice(place + random.below(3))
    }
    const bytes = Buffer.from(text, "latin1")
    const ours = read(cut(bytes, [random.below(bytes.length), random.below(bytes.length)]))
    const theirs = await readByNode(bytes)
    const shown = JSON.stringify({ text, ours, theirs })
    // What comes behind an answer ends its connection here; there it is read as the next one.
    if (ours.whole && read([bytes]).clean !== true) continue
    if (ours.whole) {
      // A trailer that would say where the message ends is ignored here; llhttp refuses it.
      if (!theirs.whole && /\n0\r\n(.+\r\n)*(content-length|transfer-encoding):/i.test(text)) continue
      both += 1
      expect(theirs, shown).toMatchObject({ whole: true })
      expect(
        { status: ours.status, body: ours.body, fields: ours.fields, trailers: ours.trailers },
        shown,
      ).toEqual({
        status: theirs.status,
        body: theirs.body,
        fields: theirs.fields,
        trailers: theirs.trailers?.filter((_, place, all) => !framing.test(all[place - (place % 2)] ?? "")),
      })
    } else if (theirs.whole && ours.error !== undefined) {
      const reason = stricter.find((each) => each.test(ours.error ?? ""))
      expect(reason, shown).toBeDefined()
      refused.set(String(reason), (refused.get(String(reason)) ?? 0) + 1)
    }
  }
  // Both sides are there: the generator makes answers that are read, and answers that are not.
  expect(both).toBeGreaterThan(count / 20)
  expect(refused.size).toBeGreaterThan(3)
})
