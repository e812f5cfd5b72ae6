import type { ChangeClass } from "../../../runtime/plan/change-rules.ts"
import { many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

/** Whose consent a class of changes needs. */
function consentRow(keyword: ChangeClass, meaning: string, example: string): StatementRow {
  return {
    keyword,
    several: 10,
    forms: [
      {
        args: [
          optional(word("above"), slot("share", "percentage")),
          word("needs"),
          oneOf([word("consent")], [slot("group", "constant", { max: 256, label: '"GROUP"' })]),
          optional(word("by"), word("another")),
        ],
      },
    ],
    byDefault: "no consent",
    docs: `Whose consent a plan needs ${meaning}. \`consent\`: that of anybody who may apply plans. A string: that of a \`group\` of \`control\`, or of everybody with a role. \`above\`: only if such changes concern more than this share of the running plan's routes; a change without routes concerns all. \`by another\`: of a person who neither applies nor made the plan.`,
    example,
  }
}

export const changeRows: readonly StatementRow[] = [
  {
    keyword: "signers",
    several: 20,
    forms: [{ args: [many(slot("key", "constant", { max: 512 }), 20)] }],
    byDefault: "plans need no signature",
    docs: "Public keys, each with a name after a blank. The next plan must be signed by one of them: `sallyport plan --sign FILE --out FILE`. Keys are Ed25519, or ECDSA on P-256 as sigstore has them, in one line: the base64 text of `openssl pkey -pubout`. `sallyport signing-key create FILE` makes one.",
    example: 'signers "MCowBQYDK2VwAyEAZ7x0ms5KzrBhIfbL1LkVwzXFBCyoLlVuYOYnxCF1Fpk= ci"',
  },
  consentRow("opens", "that allows or shows something it did not", 'opens needs "admin" by another'),
  consentRow("closes", "that refuses or hides something it did not", "closes above 5% needs consent"),
  consentRow("breaking", "that removes or changes what callers or tuples rely on", "breaking needs consent"),
]
