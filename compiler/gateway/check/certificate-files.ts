import { readsKeys } from "#keys"
import { endSoon, notAfterOf, pairProblem } from "../../../runtime/plan/certificate-pair.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Files } from "../../core/files.ts"
import { shown } from "../../core/shown.ts"
import { type BoundStatement, headSpan, statementOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** Certificates and their chains are some kilobytes. */
const bytesMax = 1_048_576

/** The file of a `cert` or `key`, with its contents on this machine. */
interface PemFile {
  readonly bound: BoundStatement
  readonly path: string
  readonly text: string
}

/**
 * Checks certificates whose files are on this machine: that they end later than in 14 days, and that their keys belong to them. Missing files are
 * no finding, because the process that runs the plan reads them, often on another machine.
 */
export function checkCertificateFiles(
  program: Program,
  files: Files,
  report: Report,
  nowMs = Date.now(),
): void {
  // In a browser.
  if (!readsKeys) return
  for (const { name, bound } of program.all("certificate")) {
    const cert = pemFile(bound, "cert", files)
    const key = pemFile(bound, "key", files)
    if (cert === undefined) continue
    const names = { cert: `\`${shown(cert.path)}\``, key: `\`${shown(key?.path ?? "")}\`` }
    const wrong = key === undefined ? undefined : pairProblem({ cert: cert.text, key: key.text }, names)
    if (wrong !== undefined) {
      const [problem = "", remedy = ""] = wrong.split("; ")
      report.add("SP3050", headSpan((key ?? cert).bound.statement), problem, {
        help: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
        related: [{ span: headSpan(cert.bound.statement), message: "the certificate" }],
      })
      continue
    }
    const when = endOf(cert.text, nowMs)
    if (when !== undefined)
      report.add("SP3051", headSpan(cert.bound.statement), `certificate \`${name}\` in ${names.cert} ${when}`)
  }
}

function endOf(cert: string, nowMs: number): string | undefined {
  try {
    return endSoon(notAfterOf(cert), nowMs)
  } catch {
    // Without its key, only the process that runs the plan can say what is wrong.
    return undefined
  }
}

function pemFile({ block }: BoundStatement, keyword: string, files: Files): PemFile | undefined {
  const bound = statementOf(block, keyword)
  const path = bound?.args.value<{ file: string }>("file")?.file
  if (bound === undefined || path === undefined) return undefined
  const read = files.readAnywhere(path, bytesMax)
  return read.kind === "bytes" ? { bound, path, text: new TextDecoder().decode(read.bytes) } : undefined
}
