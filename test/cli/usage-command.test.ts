import { expect, test } from "vitest"
import type { UsageAnswer } from "../../runtime/control/api.ts"
import { fakeControl } from "./fake-control.ts"
import { run } from "./run.ts"

const line = { calls: 2, billed: 2, bytesIn: 0, bytesOut: 3_145_728, p50: 1.25, p95: 1_500, p99: null }
const answer: UsageAnswer = {
  by: ["subscription", "day"],
  lines: [
    {
      ...line,
      key: { subscription: "ann", day: "2026-01-02" },
      amounts: [
        { amount: "0.02", currency: "EUR" },
        { amount: "1", currency: "USD" },
      ],
    },
    { ...line, billed: 0, key: { subscription: "", day: '=1,"2"\u001b' }, amounts: [] },
  ],
  cut: true,
}

test("usage as a table, as CSV that a spreadsheet does not run, and as JSON", async () => {
  const control = await fakeControl({
    "GET /v1/usage?by=subscription%2Cday": { json: answer },
    "GET /v1/usage?by=subscription%2Cuser": { json: { by: [], lines: [], cut: false } },
  })
  const io = { cwd: "/", env: control.env }
  const words = ["usage", "--by", "subscription,day"]
  expect((await run(io, ...words)).out).toBe(
    [
      "SUBSCRIPTION  DAY             CALLS  IN   OUT   P50      P95    P99  BILLED  AMOUNT",
      "ann           2026-01-02      2      0 B  3 MB  1.25 ms  1.5 s  -    2       0.02 EUR + 1 USD",
      '-             =1,"2"<U+001B>  2      0 B  3 MB  1.25 ms  1.5 s  -    0',
      "There are more lines. Narrow the list with --since, --product or --api.\n",
    ].join("\n"),
  )
  expect((await run(io, ...words, "--format", "csv")).out).toBe(
    "subscription,day,calls,billed,bytes_in,bytes_out,p50_ms,p95_ms,p99_ms,amount\r\n" +
      "ann,2026-01-02,2,2,0,3145728,1.25,1500,,0.02 EUR + 1 USD\r\n" +
      ',"\'=1,""2""\u001b",2,0,0,3145728,1.25,1500,,\r\n',
  )
  expect(JSON.parse((await run(io, ...words, "--format", "json")).out)).toEqual(answer)
  expect((await run(io, "usage")).out).toBe("No calls were counted.\n")
})
