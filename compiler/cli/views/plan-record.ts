import type { PlanConsent, PlanRecord } from "../../../runtime/control/api.ts"
import { visible } from "../../render/width.ts"

/** UTC, to the second: several operators in several time zones read it. */
export function utcText(at: string): string {
  return at.replace("T", " ").replace(/\.\d+Z$/, "Z")
}

/** Who applied a plan and why, and what is known about its origin. Names and reasons are texts of callers. */
export function planRecordText(record: PlanRecord): string {
  const { seal, signer, consents = [] } = record.provenance ?? {}
  const made =
    seal &&
    `${utcText(seal.at)} by ${seal.author.who}${signer === undefined ? "" : `, signed by \`${signer}\``}`
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["Reason", record.message ?? undefined],
    ["Commit", record.commit === null ? undefined : commitText(record.commit)],
    ["Made", made],
    ...consents.map((consent) => ["Consent", consentText(consent)] as const),
    ["Digest", record.digest],
  ]
  const shown = lines.flatMap(([name, text]) =>
    text === undefined ? [] : [`${`${name}:`.padEnd(10)}${visible(text)}\n`],
  )
  return `Serial ${record.serial}, applied ${utcText(record.at)} by ${visible(record.who)}\n${shown.join("")}`
}

/** `+` marks a working tree with changes that are not in the commit. */
function commitText(commit: string): string {
  const [id = "", ...subject] = commit.split(" ")
  const dirty = id.endsWith("+") ? " (with changes that are not in the commit)" : ""
  return `${id.replace(/\+$/, "")} ${subject.join(" ")}`.trim() + dirty
}

function consentText({ who, groups, role, allow, message, at }: PlanConsent): string {
  const note = message === null ? "" : `: ${message}`
  return `${who} (${[role, ...groups].join(", ")}) to ${allow.join(", ")}, ${utcText(at)}${note}`
}
