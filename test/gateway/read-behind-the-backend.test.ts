import { describe, expect, test } from "vitest"
import { standing } from "../azure/documents/serving.ts"
import { promptlyMs } from "../support/busy.ts"

// Whoever waited for a body that was sent already would wait until the client counts as too slow, ten seconds.
const atOnceMs = 5_000

describe("a body that is read when it has been sent", () => {
  const at = standing((backend) => [
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; trust none; limits { buffer 1KB } }
backend b { url "${backend}" }
api a { path "/a"; auth none; backend b
  POST "/read" { outbound { header set "X-Length" "\${string(size(request.text))}" } }
  POST "/failed" { outbound { validate status prevent { allow 201 } }; on-error { header set "X-Length" "\${string(size(request.text))}" } }
}`,
    ],
  ])

  async function post(path: string, text: string, chunked: boolean) {
    const from = Date.now()
    const body = chunked ? new Blob([text]).stream() : text
    const answer = await fetch(at.served.url + path, { method: "POST", body, duplex: "half" } as RequestInit)
    await answer.arrayBuffer()
    expect(Date.now() - from).toBeLessThan(promptlyMs(atOnceMs))
    return { status: answer.status, length: answer.headers.get("x-length") }
  }

  const sent = (): string | undefined => at.upstream.requests.at(-1)?.body

  test.each([false, true])("is what was sent, of whatever form (chunked: %s)", async (chunked) => {
    expect(await post("/a/read", "x".repeat(900), chunked)).toEqual({ status: 200, length: "900" })
    expect(sent()).toHaveLength(900)
  })

  test.each([false, true])(
    "is refused where it is more than may be held, and nobody gets it (chunked: %s)",
    async (chunked) => {
      const before = at.upstream.requests.length
      expect(await post("/a/read", "x".repeat(2000), chunked)).toEqual({ status: 413, length: null })
      expect(at.upstream.requests.length).toBe(before)
    },
  )

  test("is there for on-error where it may be held", async () => {
    expect(await post("/a/failed", "x".repeat(900), false)).toEqual({ status: 502, length: "900" })
  })

  test.each([false, true])(
    "passes where only on-error would read it and it may not be held (chunked: %s)",
    async (chunked) => {
      expect(await post("/a/failed", "x".repeat(2000), chunked)).toEqual({ status: 502, length: null })
      expect(sent()).toHaveLength(2000)
      expect(at.served.log.at(-1)?.cause).toContain("status 200 is not described for this API")
    },
  )
})
