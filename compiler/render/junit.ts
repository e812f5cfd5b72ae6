import type { Diagnostic } from "../core/diagnostic.ts"
import { placeOf, textOfFinding } from "./text.ts"
import { visible } from "./width.ts"

/**
 * Findings as a JUnit report, for systems that show the results of tests: one test case for each finding. An error is a failure; a warning is a
 * case that passes, with the finding as its output. Without findings there is one case that passes, because an empty report counts as missing.
 */
export function junitOfFindings(findings: readonly Diagnostic[]): string {
  const errors = findings.filter(({ severity }) => severity === "error").length
  const cases =
    findings.length === 0 ? ['    <testcase classname="sallyport" name="validate"/>'] : findings.map(caseOf)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="sallyport validate" tests="${cases.length}" failures="${errors}" errors="0" skipped="0">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n")
}

function caseOf(finding: Diagnostic): string {
  const { code, severity, title, detail, span } = finding
  const place = span === undefined ? "" : ` at ${placeOf(span)}`
  const attributes = `classname="${escaped(span?.file.path ?? "sallyport")}" name="${escaped(`${code} ${title}${place}`)}"`
  const text = escaped(textOfFinding(finding, false))
  const inside =
    severity === "error"
      ? `<failure type="${code}" message="${escaped(detail)}">${text}</failure>`
      : `<system-out>${text}</system-out>`
  return `    <testcase ${attributes}>${inside}</testcase>`
}

/** For attributes and content. Characters that XML cannot contain are made visible. */
function escaped(text: string): string {
  return text
    .split("\n")
    .map(visible)
    .join("\n")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
}
