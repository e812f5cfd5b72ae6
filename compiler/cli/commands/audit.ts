import type { AuditAnswer } from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readDuration, readFormat, readMoment, textOf } from "../options.ts"
import { jsonDocument, print } from "../print.ts"
import { connect, expectOk, type Remote } from "../remote.ts"

interface AuditVerifyArgs {
  /** The end of the chain at an earlier time. */
  readonly expected: { readonly seq: number; readonly hash: string } | undefined
  readonly format: "text" | "json"
}

interface AuditExportArgs {
  /** RFC 3339. */
  readonly from: string | undefined
  readonly to: string | undefined
}

const verifyLine: CommandLine<AuditVerifyArgs> = {
  options: [
    ["--expect <seq:hash>", "a row that an earlier `audit verify` printed, which must still be there"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport audit verify", "find rows that were altered or removed; exit 1 when there are some"],
    [
      "sallyport audit verify --expect 812:4f0c…",
      "also find a chain that was made again, by a hash kept elsewhere",
    ],
  ],
  parse(_, options) {
    const text = textOf(options, "expect")
    const format = readFormat(options, ["text", "json"])
    if (text === undefined) return { expected: undefined, format }
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
    if (seq === undefined || hash === undefined)
      throw new CliError(
        `--expect is not a row: ${text}`,
        "Write it as an earlier `audit verify` printed it: SEQ:HASH.",
      )
    return { expected: { seq: Number(seq), hash }, format }
  },
}

/** Hashes are computed here, so a server that was changed cannot hide anything from a client that was not. */
export const auditVerify = command(verifyLine, async ({ expected, format }, io) => {
  const remote = await connect(io)
  const { ChainVerifier } = await import("../../../runtime/store/audit-log.ts")
  const first = await pageOf(remote, {})
  const verifier = new ChainVerifier(first.anchor)
  let found: string | undefined
  let { head } = first
  for await (const page of pagesFrom(remote, first, {})) {
    for (const row of page.rows) {
      verifier.take(row)
      if (row.seq === expected?.seq) found = row.hash
    }
    ;({ head } = page)
  }
  const { problems, count } = verifier.end(head)
  const all = [...problems, ...expectedProblems(expected, found, first.anchor.seq)]
  if (format === "json")
    io.out(jsonDocument({ unchanged: all.length === 0, count, last: head, problems: all }))
  else if (all.length > 0) io.err(all.map((problem) => `${problem}\n`).join(""))
  else io.out(`${count} rows are unchanged; the last is ${head.seq}:${head.hash}\n`)
  return all.length > 0 ? exitCode.failed : exitCode.ok
})

function expectedProblems(
  expected: AuditVerifyArgs["expected"],
  found: string | undefined,
  anchor: number,
): string[] {
  if (expected === undefined || found === expected.hash) return []
  if (expected.seq <= anchor)
    return [`row ${expected.seq} was deleted by \`audit prune\`, so it cannot be compared`]
  return [
    found === undefined
      ? `row ${expected.seq} is missing`
      : `row ${expected.seq} has another hash than expected`,
  ]
}

const exportLine: CommandLine<AuditExportArgs> = {
  options: [
    ["--from <date>", "first time: 2026-01-31 or an RFC 3339 time (default: the oldest row)"],
    ["--to <date>", "time after the last one (default: now)"],
  ],
  examples: [["sallyport audit export --from 2026-01-01 > audit.jsonl", "write the rows as JSON lines"]],
  parse(_, options) {
    const moment = (name: string) => {
      const text = textOf(options, name)
      return text === undefined ? undefined : readMoment(text, `--${name}`)
    }
    return { from: moment("from"), to: moment("to") }
  },
}

export const auditExport = command(exportLine, async ({ from, to }, io) => {
  const remote = await connect(io)
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  for await (const { rows } of pagesFrom(remote, await pageOf(remote, range), range))
    for (const { seq, hash, entry } of rows) io.out(`{"seq":${seq},"hash":"${hash}","entry":${entry}}\n`)
  return exitCode.ok
})

interface AuditPruneArgs {
  readonly olderThanSeconds: number
  readonly format: "text" | "json"
}

const pruneLine: CommandLine<AuditPruneArgs> = {
  options: [["--older-than <age>", "delete rows older than this, e.g. 400d (at least 1d)"], ...formatOptions],
  examples: [
    ["sallyport audit prune --older-than 400d", "delete old rows; the others can still be verified"],
  ],
  parse(_, options) {
    const text = textOf(options, "olderThan")
    if (text === undefined)
      throw new CliError("audit prune needs an age", "Give it, e.g. `--older-than 400d`.")
    const olderThanSeconds = Math.ceil(readDuration(text, "--older-than") / 1_000)
    if (olderThanSeconds < 86_400) throw new CliError("--older-than is less than a day", "Write 1d or more.")
    return { olderThanSeconds, format: readFormat(options, ["text", "json"]) }
  },
}

export const auditPrune = command(pruneLine, async ({ olderThanSeconds, format }, io) => {
  const remote = await connect(io)
  const answer = await remote.request("POST", "/v1/audit/prune", { olderThanSeconds })
  print(io, format, expectOk<{ deleted: number }>(answer), ({ deleted }) => `Deleted ${deleted} rows.\n`)
  return exitCode.ok
})

async function pageOf(remote: Remote, query: Readonly<Record<string, string>>): Promise<AuditAnswer> {
  return expectOk<AuditAnswer>(await remote.request("GET", `/v1/audit?${new URLSearchParams(query)}`))
}

/** The first page and all after it. */
async function* pagesFrom(remote: Remote, first: AuditAnswer, range: Readonly<Record<string, string>>) {
  let page = first
  for (;;) {
    yield page
    if (page.next === null) return
    page = await pageOf(remote, { ...range, after: String(page.next) })
  }
}
