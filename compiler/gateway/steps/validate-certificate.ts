import { canonicalName } from "../../../runtime/plan/distinguished-name.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, opens } from "../../analysis/finding.ts"
import { listChanges } from "../../analysis/same.ts"
import { listWords, textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { type AuthForm, authText, messageRules } from "../credential-text.ts"
import { lowerSaid } from "../lower/caller-token.ts"
import { asksForCertificates } from "../lower/client-certificates.ts"
import type { StepContext } from "../lower/step.ts"
import { countText, messageText, statusText } from "../print.ts"
import { refusalMessage, refusalStatus } from "../schema/refusal.ts"
import { many, optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

type Certificate = StepOf<"validate-certificate">
type AlternativeName = NonNullable<Certificate["names"]>[number]

const text = "string"
const texts = "list<string>"

/** `auth certificate { … }`. `jwt` has the names of the certificate. */
export const authCertificate: AuthForm = {
  form: { args: [word("certificate")], block: "auth certificate" },
  ways: () => [
    {
      kind: "jwt",
      by: "certificate",
      claims: {
        ...{ sub: text, iss: text, cn: text, thumbprint: text },
        ...{ dns: texts, uri: texts, email: texts, ip: texts },
      },
    },
  ],
  lower: lowerCertificate,
}

/** The statements in the block of `auth certificate`. */
export const authCertificateRows: readonly StatementRow[] = [
  {
    keyword: "subject",
    several: true,
    forms: [{ args: [many(slot("name", "constant", { max: 4096 }), 100)] }],
    byDefault: "any subject",
    docs: "Subjects of certificates that are accepted, in the form of RFC 4514: the most specific part first, all parts, letter case as in the certificate. `openssl x509 -noout -subject -nameopt RFC2253` prints it.",
    example: 'subject "CN=orders,O=Acme"',
  },
  {
    keyword: "san",
    several: true,
    forms: [
      {
        args: [
          slot("kind", "choice", { choices: ["dns", "uri", "email", "ip"], label: "KIND" }),
          many(slot("name", "constant", { max: 2048 }), 100),
        ],
      },
    ],
    byDefault: "any names",
    docs: "Alternative names (subjectAltName): a certificate must have one of them.",
    example: 'san uri "spiffe://acme.example/orders"',
  },
  {
    keyword: "issuer",
    several: true,
    forms: [{ args: [many(slot("name", "constant", { max: 4096 }), 100)] }],
    byDefault: "any authority of `client-certificate`",
    docs: "Names of the authorities that signed the certificate itself, in the form of `subject`.",
    example: 'issuer "CN=Partners,O=Acme"',
  },
  {
    keyword: "thumbprint",
    several: true,
    forms: [{ args: [many(slot("digest", "constant", { max: 128 }), 100)] }],
    byDefault: "any certificate",
    docs: "SHA-256 of certificates that are accepted, in hexadecimal. `openssl x509 -noout -fingerprint -sha256` prints it.",
    example: 'thumbprint "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
  },
  refusalStatus(
    "401",
    "Status of the response without a valid certificate. One that is not in the lists gets 403.",
  ),
  refusalMessage,
  {
    keyword: "forward",
    forms: [{ args: [optional(word("chain"))] }],
    byDefault: "the backend does not get it",
    docs: "Sends the certificate on to the backend in the header `Client-Cert` (RFC 9440), and with `chain` the authorities below the root in `Client-Cert-Chain`. The gateway always removes these headers from requests of clients.",
    example: "forward chain",
  },
]

function lowerCertificate(bound: BoundStatement, context: StepContext): Certificate | undefined {
  const { block } = bound
  if (context.program.gateway !== undefined && !asksForCertificates(context.program))
    context.report.add("SP3047", headSpan(bound.statement), "no client can present one")
  const said = lowerSaid(block, context)
  const names = (keyword: string) =>
    lowerEach(block, keyword, context, (value) =>
      canonicalName(value) === undefined
        ? [
            `\`${value}\` is not a distinguished name in the form of RFC 4514`,
            "Write `TYPE=VALUE` parts with commas between them, for example `CN=orders,O=Acme`. A comma in a value is `\\\\,`.",
          ]
        : undefined,
    )
  const [subjects, issuers] = [names("subject"), names("issuer")]
  const thumbprints = lowerEach(block, "thumbprint", context, thumbprintFault)
  const alternatives = lowerAlternatives(block)
  if (said === undefined || subjects === "broken" || issuers === "broken" || thumbprints === "broken")
    return undefined
  const { status, message } = said
  const forward = statementOf(block, "forward")
  const given = <Value>(key: string, values: readonly Value[]) =>
    values.length === 0 ? {} : { [key]: values }
  return {
    kind: "validate-certificate",
    ...given(
      "subjects",
      subjects.map((each) => canonicalName(each) as string),
    ),
    ...given("names", alternatives),
    ...given(
      "issuers",
      issuers.map((each) => canonicalName(each) as string),
    ),
    ...given("thumbprints", thumbprints.map(plainDigest)),
    status,
    ...(message === undefined ? {} : { message }),
    ...(forward === undefined ? {} : { forward: isChain(forward) ? "chain" : "certificate" }),
  }
}

function isChain({ statement }: BoundStatement): boolean {
  return statement.args.length > 0
}

function plainDigest(value: string): string {
  return value.replaceAll(":", "").toLowerCase()
}

function thumbprintFault(value: string): readonly [detail: string, help: string] | undefined {
  const digest = plainDigest(value)
  if (/^[0-9a-f]{64}$/.test(digest)) return undefined
  const help = "Write the 64 digits that `openssl x509 -noout -fingerprint -sha256 -in FILE` prints."
  return /^[0-9a-f]{40}$/.test(digest)
    ? ["this is SHA-1, for which two certificates with one thumbprint can be made", help]
    : ["this is not SHA-256 in hexadecimal", help]
}

/** The values of a keyword, without repetitions; "broken" when one is invalid (reported). */
function lowerEach(
  block: BoundStatement["block"],
  keyword: string,
  { report }: StepContext,
  faultOf: (value: string) => readonly [detail: string, help: string] | undefined,
): string[] | "broken" {
  let broken = false
  const found = statementsOf(block, keyword).flatMap(({ args }) => {
    const slotName = keyword === "thumbprint" ? "digest" : "name"
    return args.all(slotName).map(({ argument, value }) => {
      const fault = faultOf(value as string)
      if (fault !== undefined) {
        broken = true
        report.add("SP2010", argument.span, fault[0], { help: fault[1] })
      }
      return value as string
    })
  })
  return broken ? "broken" : [...new Set(found)].toSorted()
}

/** Host names in lower case, because certificates are compared so. */
function lowerAlternatives(block: BoundStatement["block"]): AlternativeName[] {
  const found = statementsOf(block, "san").flatMap(({ args }) => {
    const kind = args.word("kind")?.text as AlternativeName["kind"] | undefined
    if (kind === undefined) return []
    return args.all("name").map(({ value }) => ({
      kind,
      value: kind === "dns" ? (value as string).toLowerCase() : (value as string),
    }))
  })
  const byText = new Map(found.map((each) => [`${each.kind} ${each.value}`, each]))
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** Printing and comparison of a step that demands a client certificate. */
export const validateCertificate: StepText<"validate-certificate"> = {
  print: (
    { subjects, names = [], issuers, thumbprints, identities, revocation, status, message, forward },
    printing,
  ) => {
    if (identities !== undefined)
      printing.lacks("identities of client certificates by SHA-1 or serial number")
    if (revocation !== undefined) printing.lacks("a check that the listener has revocation lists")
    return authText(
      printing,
      "certificate",
      valuesText("subject", subjects),
      names.map(({ kind, value }) => `san ${kind} ${textWords(value)}`),
      valuesText("issuer", issuers),
      valuesText("thumbprint", thumbprints),
      statusText(status, 401, printing),
      messageText(message),
      forward !== undefined && `forward${forward === "chain" ? " chain" : ""}`,
    )
  },
  identities: () => ["auth"],
  added: ({ status }) => closes(`requests without a valid client certificate now get ${countText(status)}`),
  removed: () => opens("requests without a client certificate are now let through"),
  changed: {
    ...messageRules,
    subjects: (before, after) => accepted("subject", before, after),
    names: (before, after) => accepted("alternative name", before?.map(nameText), after?.map(nameText)),
    issuers: (before, after) => accepted("issuer", before, after),
    thumbprints: (before, after) => accepted("thumbprint", before, after),
    identities: (before, after) => accepted("identity", before?.map(identityText), after?.map(identityText)),
    revocation: (_, after) =>
      after === undefined
        ? opens("client certificates are accepted where the listener does not check for revocation")
        : closes("client certificates are refused where the listener does not check for revocation"),
    status: (before, after) =>
      breaking(
        `requests without a valid client certificate now get ${countText(after)} instead of ${countText(before)}`,
      ),
    forward: (before, after) =>
      after === undefined
        ? breaking("the backend no longer gets the client certificate")
        : before === "chain"
          ? breaking("the backend no longer gets the chain of the client certificate")
          : opens(`the backend gets the client certificate${after === "chain" ? " with its chain" : ""}`),
  } satisfies FieldRules<Fields<"validate-certificate">>,
  way: {
    credential: () => "a client certificate",
    ways: (step) => [step],
    schemes: () => [["certificate", { type: "mutualTLS" }]],
  },
}

function identityText(identity: NonNullable<Certificate["identities"]>[number]): string {
  return Object.entries(identity)
    .map(([key, value]) => `${key} ${value}`)
    .join(" ")
}

function nameText({ kind, value }: AlternativeName): string {
  return `${kind} ${value}`
}

function valuesText(keyword: string, values: readonly string[] | undefined): string | undefined {
  return values && `${keyword} ${values.map(textWords).join(" ")}`
}

/** What another list of accepted values means; without a list every value is accepted. */
function accepted(
  what: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): readonly Finding[] | Finding {
  if (after === undefined) return opens(`client certificates with any ${what} are now accepted`)
  if (before === undefined)
    return closes(`client certificates with another ${what} than the listed are refused`)
  const { removed, added } = listChanges(before, after)
  return [
    ...(added.length === 0
      ? []
      : [opens(`client certificates with the ${what} ${listWords(added.map(textWords))} are accepted`)]),
    ...(removed.length === 0
      ? []
      : [closes(`client certificates with the ${what} ${listWords(removed.map(textWords))} are refused`)]),
  ]
}
