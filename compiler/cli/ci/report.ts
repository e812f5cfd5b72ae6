import { jsonDocument } from "../print.ts"
import type { CiResult, CiStatus } from "./steps.ts"

/** GitHub refuses comments of more than 65,536 characters, GitLab of more than a million. */
const commentMax = 60_000

const words: Readonly<Record<CiStatus, string>> = {
  passed: "passed",
  failed: "**failed**",
  changes: "changes",
  skipped: "skipped",
}

/** A hidden mark, by which a script finds the comment of an earlier run. */
export const commentMark = "<!-- sallyport ci -->"

/** All steps as Markdown, for a comment on a pull request: a table, then what each step printed, folded. */
export function ciMarkdown(results: readonly CiResult[]): string {
  const failed = results.filter(({ status }) => status === "failed").length
  const title =
    failed === 0 ? "Sallyport: all checks passed" : `Sallyport: ${failed} of ${results.length} checks failed`
  const head = [
    commentMark,
    `### ${title}`,
    "",
    "| check | result |",
    "| --- | --- |",
    ...results.map(
      ({ line, status, note }) => `| \`${line}\` | ${words[status]}${note === "" ? "" : `: ${cell(note)}`} |`,
    ),
    "",
  ]
  // Each step gets the same share, so that a long plan cannot push out the findings.
  const shown = results.filter(({ text }) => text.trim() !== "")
  const share = Math.floor((commentMax - head.join("\n").length) / Math.max(1, shown.length)) - 200
  return `${[...head, ...shown.map((result) => folded(result, share))].join("\n")}\n`
}

/** A cell of a table: no line breaks, no bars. */
function cell(text: string): string {
  return text
    .replace(/[\\|<>]/g, "\\$&")
    .replace(/\s+/g, " ")
    .slice(0, 200)
}

/** The output of a step. Open if it failed: that is what the reader looks for. */
function folded({ line, status, text }: CiResult, share: number): string {
  const cut =
    text.length > share ? `${text.slice(0, share)}\n… ${text.length - share} more characters` : text.trimEnd()
  const fence = "`".repeat(Math.max(3, ...(cut.match(/`+/g) ?? []).map((run) => run.length + 1)))
  const open = status === "failed" ? " open" : ""
  return `<details${open}><summary>sallyport ${line}</summary>\n\n${fence}text\n${cut}\n${fence}\n\n</details>\n`
}

/** The steps for people, with what they printed. */
export function ciText(results: readonly CiResult[]): string {
  const parts = results.map(
    ({ line, status, note, text }) =>
      `== sallyport ${line}\n${text === "" ? "" : `${text.trimEnd()}\n`}${status}${status === "skipped" ? `: ${note}` : ""}\n`,
  )
  return `${parts.join("\n")}\n${results.map(({ line, status }) => `${status.padEnd(8)} ${line}`).join("\n")}\n`
}

/** The steps in the log of a GitHub workflow: a group for each. Annotations work inside of groups, too. */
export function ciGithub(results: readonly CiResult[]): string {
  const parts = results.map(
    ({ line, status, text }) =>
      `::group::sallyport ${line}: ${status}\n${text === "" ? "" : `${text.trimEnd()}\n`}::endgroup::\n`,
  )
  return `${parts.join("")}${results.map(({ line, status }) => `${status.padEnd(8)} ${line}`).join("\n")}\n`
}

/** The steps as one JSON document. */
export function ciJson(results: readonly CiResult[]): string {
  const passed = results.every(({ status }) => status !== "failed")
  const steps = results.map(({ line, status, note, text }) => ({
    command: `sallyport ${line}`,
    status,
    note,
    output: text,
  }))
  return jsonDocument({ format: 1, passed, steps })
}
