import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import { type ConsentRule, changeClasses, type PlanSigner } from "../../../runtime/plan/change-rules.ts"
import { controlRoles } from "../../../runtime/plan/control.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { isSignerKey } from "../../../runtime/plan/seal.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import { type BoundStatement, headSpan, statementsOf } from "../bind/bound.ts"
import type { Program } from "../program.ts"

/** What a change of the plan needs. A plan without the block keeps the digest it had before the block existed. */
export function lowerChange(program: Program, report: Report): Pick<PlanBody, "change"> {
  const { change } = program
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
  const consents = consentsOf(program, report)
  return {
    change: {
      ...(list.length === 0 ? {} : { signers: list }),
      ...(consents.length === 0 ? {} : { consents }),
    },
  }
}

function consentsOf(program: Program, report: Report): ConsentRule[] {
  const groups = groupsOf(program)
  const found = new Map<string, ConsentRule>()
  for (const each of changeClasses)
    for (const { args, statement } of statementsOf(program.change?.block, each)) {
      const group = args.get("group")
      const of = args.value<string>("group")
      if (group !== undefined && of !== undefined && groups?.has(of) === false)
        report.add(
          "SP2012",
          group.argument.span,
          `no \`auth jwt\` of \`control\` gives the group \`${shown(of)}\``,
          {
            help: `Add \`group ${JSON.stringify(of)} claim "CLAIM" "VALUE"\` to one, or name a role: ${controlRoles.map((role) => `"${role}"`).join(", ")}.`,
          },
        )
      const abovePercent = args.value<number>("share")
      const rule: ConsentRule = {
        class: each,
        ...(abovePercent === undefined ? {} : { abovePercent }),
        ...(of === undefined ? {} : { of }),
        ...(hasWord(statement, "another") ? { another: true } : {}),
      }
      const key = canonicalJson(rule)
      if (found.has(key)) report.add("SP2016", headSpan(statement), "this rule is given twice")
      found.set(key, rule)
    }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule)
}

/** Groups and roles that rules can name; undefined: the text about operators was not understood. */
function groupsOf({ control }: Program): ReadonlySet<string> | undefined {
  if (control?.block?.damaged === true) return undefined
  const named = statementsOf(control?.block, "auth").flatMap(({ block }) =>
    statementsOf(block, "group").flatMap(({ args }) => args.value<string>("group") ?? []),
  )
  return new Set([...controlRoles, ...named])
}

/** Whether a fixed word is among the arguments. */
function hasWord({ args }: BoundStatement["statement"], text: string): boolean {
  return args.some((each) => each.kind === "word" && each.text === text)
}

/** A key and its name, separated by a blank. */
function signerOf(text: string, span: Span, report: Report): PlanSigner | undefined {
  const [, key = "", name] = /^(\S+)(?:\s+(\S.{0,99}))?$/.exec(text.trim()) ?? []
  if (isSignerKey(key)) return { key, ...(name === undefined ? {} : { name }) }
  report.add("SP3076", span, whyNoKey(key))
  return undefined
}

function whyNoKey(key: string): string {
  if (key.startsWith("ssh-")) return "this is a key in the format of OpenSSH"
  if (key.startsWith("-----"))
    return "this is a PEM file: only the text between its first and last line is needed"
  return "this is not a public key of Ed25519 or of ECDSA on P-256"
}
