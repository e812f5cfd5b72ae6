import type { PlanSigner } from "../../../runtime/plan/change-rules.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { readSignerKey } from "../../../runtime/plan/seal.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** What a change of the plan needs. A plan without the block keeps the digest it had before the block existed. */
export function lowerChange({ change }: Program, report: Report): Pick<PlanBody, "change"> {
  if (change === undefined) return {}
  const signers = new Map<string, PlanSigner>()
  for (const { args } of statementsOf(change.block, "signers"))
    for (const { value, argument } of args.all("key")) {
      const signer = signerOf(String(value), argument.span, report)
      if (signer === undefined) continue
      if (signers.has(signer.key)) report.add("SP2016", argument.span, "this key is given twice")
      signers.set(signer.key, signer)
    }
  const list = [...signers.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  return { change: { ...(list.length === 0 ? {} : { signers: list }) } }
}

/** A key and its name, separated by a blank. */
function signerOf(text: string, span: Span, report: Report): PlanSigner | undefined {
  const [, key = "", name] = /^(\S+)(?:\s+(\S.{0,99}))?$/.exec(text.trim()) ?? []
  if (readSignerKey(key) !== undefined) return { key, ...(name === undefined ? {} : { name }) }
  report.add("SP3076", span, whyNoKey(key))
  return undefined
}

function whyNoKey(key: string): string {
  if (key.startsWith("ssh-")) return "this is a key in the format of OpenSSH"
  if (key.startsWith("-----"))
    return "this is a PEM file: only the text between its first and last line is needed"
  return "this is not a public key of Ed25519 or of ECDSA on P-256"
}
