import { canonicalName } from "../../../runtime/plan/distinguished-name.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { fixedFlags, inboundOnly, optional, type PolicyRow } from "./row.ts"

type Identity = NonNullable<StepOf<"validate-certificate">["identities"]>[number]

/** Checks that the listener always makes: a document cannot leave them out. */
const always = ["validate-trust", "validate-not-before", "validate-not-after"] as const

/** `validate-client-certificate`. The listener has verified the certificate; what remains is whose it is. */
function lowerClientCertificate(use: Use): Used[] | undefined {
  const revocation = use.fixedFlag("validate-revocation")
  const left = always.filter((name) => use.fixedFlag(name) === false)
  for (const name of left)
    use.report(
      "SP7011",
      use.spanOf(name),
      `\`${name}="false"\` is not supported: the listener refuses such certificates`,
      "Remove it. A certificate without an authority can be a file of `ca` itself.",
    )
  const ignores = use.fixedFlag("ignore-error")
  if (ignores === true)
    use.report(
      "SP7011",
      use.spanOf("ignore-error"),
      '`ignore-error="true"` is not supported',
      "Remove it, or test `context.Request.Certificate` in `choose`.",
    )
  const given = use.child("identities")?.children("identity") ?? []
  const identities = given.map(identityOf)
  if (revocation === undefined || ignores !== false || left.length > 0) return undefined
  if (identities.includes(undefined)) return undefined
  return use.step({
    kind: "validate-certificate",
    ...(identities.length === 0 ? {} : { identities: identities as Identity[] }),
    ...(revocation ? { revocation: true as const } : {}),
    status: 403,
    message: "Invalid client certificate",
  })
}

/** All attributes of an identity must match. One without attributes would match every certificate. */
function identityOf(use: Use): Identity | undefined {
  const thumbprint = textOf(use, "thumbprint", (text) => digits(text, /^[0-9A-F]{40}$/))
  const serial = textOf(use, "serial-number", (text) => digits(text, /^[0-9A-F]{2,64}$/))
  const commonName = textOf(use, "common-name", (text) => text)
  const subject = textOf(use, "subject", canonicalName)
  const dns = textOf(use, "dns-name", (text) => text.toLowerCase())
  const issuer = textOf(use, "issuer-subject", canonicalName)
  const found = { thumbprint, serial, commonName, subject, dns, issuer }
  if (Object.values(found).includes(broken)) return undefined
  const identity = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
  if (Object.keys(identity).length > 0) return identity as Identity
  return use.report(
    "SP7008",
    use.at,
    "`identity` has no attribute, so it would accept every certificate",
    "Add one, for example `thumbprint`, or remove `identity`.",
  )
}

const broken = Symbol("broken")

function textOf(
  use: Use,
  name: string,
  read: (text: string) => string | undefined,
): string | typeof broken | undefined {
  if (!use.has(name)) return undefined
  const text = use.constant(name)
  if (text === undefined) return broken
  const value = text === "" ? undefined : read(text)
  if (value !== undefined) return value
  use.report("SP7009", use.spanOf(name), `\`${name}\` has no valid value`, help[name] ?? "Write a text.")
  return broken
}

const help: Readonly<Record<string, string>> = {
  thumbprint: "Write SHA-1 in hexadecimal, 40 digits, as the portal of Azure shows it.",
  "serial-number": "Write the serial number in hexadecimal.",
  subject: "Write the whole name, for example `CN=orders, O=Acme`.",
  "issuer-subject": "Write the whole name, for example `CN=Partners, O=Acme`.",
}

/** Digits in capital letters. Certificate viewers add blanks, colons and an invisible mark that is copied with them. */
function digits(text: string, pattern: RegExp): string | undefined {
  const plain = text.replaceAll(/[\s:\u200e]/g, "").toUpperCase()
  return pattern.test(plain) ? plain : undefined
}

export const clientCertificateRow: PolicyRow = {
  about: "Refuses requests without a client certificate that fits one of the identities.",
  sections: inboundOnly,
  attributes: {
    "validate-revocation": fixedFlags.on,
    "validate-trust": fixedFlags.on,
    "validate-not-before": fixedFlags.on,
    "validate-not-after": fixedFlags.on,
    "ignore-error": fixedFlags.off,
  },
  children: {
    identities: {
      children: {
        identity: {
          many: true,
          attributes: {
            ...{ thumbprint: optional, "serial-number": optional, "common-name": optional },
            ...{ subject: optional, "dns-name": optional, "issuer-subject": optional },
          },
        },
      },
    },
  },
  lower: lowerClientCertificate,
}
