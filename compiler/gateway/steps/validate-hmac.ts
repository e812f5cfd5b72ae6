import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { listChanges } from "../../analysis/same.ts"
import { codeWords } from "../../analysis/words.ts"
import { authText, messageRules } from "../credential-text.ts"
import { defaultToleranceSeconds, replaySeconds, separators, signatureFormOf } from "../lower/signature.ts"
import {
  countText,
  messageText,
  type Printing,
  secondsText,
  statusText,
  textsOf,
  timeText,
  wordText,
} from "../print.ts"
import type { Fields, StepText } from "../step-text.ts"

type Plan = StepOf<"validate-hmac">

/** Printing and comparison of a step that demands a signature. */
export const validateHmac: StepText<"validate-hmac"> = {
  print: (step, printing) => {
    const { secrets, caller, timestamp, replay, status, message } = step
    const form = signatureFormOf(step)
    const tolerance = timestamp?.toleranceSeconds
    return authText(
      printing,
      `hmac ${form} ${secrets.map(({ secret }) => secret).join(" ")}`,
      ...(form === "custom" ? customTexts(step, printing) : []),
      tolerance !== undefined && tolerance !== defaultToleranceSeconds && `tolerance ${timeText(tolerance)}`,
      replay !== undefined && replayText(step, replay, printing),
      caller !== secrets[0]?.secret && `caller ${JSON.stringify(caller)}`,
      statusText(status, 401, printing),
      messageText(message),
    )
  },
  identities: () => ["auth"],
  added: ({ status }) => closes(`requests without a valid signature now get ${countText(status)}`),
  removed: () => opens("requests without a signature are now let through"),
  changed: {
    ...messageRules,
    caller: (before, after) =>
      opens(`the caller is now \`${after}\` instead of \`${before}\`, for limits and permissions too`),
    secrets: (before, after) => {
      const { added, removed } = listChanges(before, after)
      const named = (list: Plan["secrets"]) => codeWords(list.map(({ secret }) => secret))
      const changes = [
        ...(added.length === 0 ? [] : [opens(`signatures with ${named(added)} are now accepted`)]),
        ...(removed.length === 0 ? [] : [closes(`signatures with ${named(removed)} are no longer accepted`)]),
      ]
      return changes.length > 0 ? changes : [neutral("the same secrets in another order")]
    },
    key: () => otherSignatures("the secret is decoded in another way"),
    algorithm: (before, after) => otherSignatures(`signatures are made with ${after} instead of ${before}`),
    signature: () => otherSignatures("the signature is read in another place or form"),
    timestamp: compareTimes,
    signed: (before, after) =>
      before.includes("body") && !after.includes("body")
        ? [opens("the body is no longer signed: anybody can change it"), ...otherSignatures("less is signed")]
        : otherSignatures("other parts of the request are signed"),
    replay: compareReplay,
    status: (before, after) =>
      breaking(
        `requests without a valid signature now get ${countText(after)} instead of ${countText(before)}`,
      ),
  } satisfies FieldRules<Fields<"validate-hmac">>,
  way: {
    credential: ({ secrets }) => `a signature with ${codeWords(secrets.map(({ secret }) => secret))}`,
    ways: (step) => step.secrets.map((secret) => ({ ...step, secrets: [secret] })),
    schemes: ({ signature: { header }, algorithm, signed }) => [
      [
        `signature_${header}`,
        {
          type: "apiKey",
          in: "header",
          name: header,
          description: `HMAC (${algorithm}) of ${signed.flatMap((part) => partWords(part) ?? []).join(", ")}`,
        },
      ],
    ],
  },
}

function partWords(part: Plan["signed"][number]): string | undefined {
  if (typeof part === "string") return part
  return "header" in part ? `header ${part.header}` : undefined
}

/** The statements of the general form. */
function customTexts(
  { signature, algorithm, key, timestamp, signed }: Plan,
  printing: Printing,
): (string | false | undefined)[] {
  const { header, prefix, separator, encoding } = signature
  const from = timestamp?.from
  return [
    `header ${JSON.stringify(printing.header(header))}`,
    prefix !== undefined && `prefix${textsOf([prefix])}`,
    separator !== undefined &&
      `separator ${Object.keys(separators).find((each) => separators[each] === separator)}`,
    encoding !== "hex" && `encoding ${encoding}`,
    algorithm !== "sha256" && `algorithm ${algorithm}`,
    key !== "text" && `key ${key}`,
    from !== undefined &&
      `timestamp ${"header" in from ? `header ${JSON.stringify(printing.header(from.header))}` : `prefix${textsOf([from.prefix])}`}${timestamp?.unit === "milliseconds" ? " milliseconds" : ""}`,
    signed.join() !== "body" && `signed ${signed.map((part) => signedText(part, printing)).join(" ")}`,
  ]
}

function signedText(part: Plan["signed"][number], printing: Printing): string {
  if (typeof part === "string") return part
  if ("literal" in part) return textsOf([part.literal]).trim()
  if (/[^a-z0-9.-]/.test(part.header)) printing.lacks(`the signed header \`${part.header}\``)
  return wordText(`header:${printing.header(part.header)}`)
}

function replayText(step: Plan, replay: NonNullable<Plan["replay"]>, printing: Printing): string {
  const by = replay.header === undefined ? "" : ` header ${JSON.stringify(printing.header(replay.header))}`
  const time = replay.seconds === replaySeconds(step.timestamp) ? "" : ` for ${timeText(replay.seconds)}`
  return `replay-guard${by}${time}`
}

/** Requests that were valid are refused, and others are accepted. */
function otherSignatures(why: string): Finding[] {
  return [opens(`${why}: other signatures are accepted`), breaking(`${why}: the old signatures are refused`)]
}

function compareTimes(before: Plan["timestamp"], after: Plan["timestamp"]): Finding[] {
  if (before === undefined)
    return after === undefined
      ? []
      : [
          closes(
            `signatures older than ${secondsText(after.toleranceSeconds)}, or without a time, are refused`,
          ),
        ]
  if (after === undefined) return [opens("signatures of any age are accepted")]
  const [old, now] = [before.toleranceSeconds, after.toleranceSeconds]
  const longer = `signatures are accepted for ${secondsText(now)} instead of ${secondsText(old)}`
  const other = { ...before, toleranceSeconds: now }
  return [
    ...(now > old ? [opens(longer)] : now < old ? [closes(longer)] : []),
    ...(JSON.stringify(other) === JSON.stringify({ ...after, toleranceSeconds: now })
      ? []
      : otherSignatures("the time of the signature is read in another place")),
  ]
}

function compareReplay(before: Plan["replay"], after: Plan["replay"]): Finding[] {
  if (after === undefined) return [opens("a request can be sent again with the same signature")]
  if (before === undefined) return [closes(`a repeated request gets 409 for ${secondsText(after.seconds)}`)]
  const forTime = `a repeated request gets 409 for ${secondsText(after.seconds)} instead of ${secondsText(before.seconds)}`
  return [
    ...(after.seconds > before.seconds ? [closes(forTime)] : []),
    ...(after.seconds < before.seconds ? [opens(forTime)] : []),
    ...(after.header === before.header
      ? []
      : [opens("repeated requests are recognized by another part of the request")]),
  ]
}
