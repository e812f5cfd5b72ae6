import type { MemoryFiles } from "../../../compiler/core/files.ts"
import { runCases } from "../../cases.ts"
import { converted } from "./converted.ts"

const decoder = new TextDecoder()

function made(files: MemoryFiles): NonNullable<ReturnType<typeof converted>> {
  const texts = new Map(
    files.glob("*.xml").paths.flatMap((path) => {
      const read = files.read(path, 1_000_000)
      return read.kind === "bytes" ? [[path, decoder.decode(read.bytes)] as const] : []
    }),
  )
  const fragments = new Map([...texts].map(([path, text]) => [path.replace(/\.xml$/, ""), text]))
  const conversion = converted("policy.xml", texts.get("policy.xml") ?? "", fragments)
  if (conversion === undefined) throw new Error("the document can't be read")
  return conversion
}

/** What the command tells on standard error. */
function left(files: MemoryFiles): string {
  const { losses, notes, counts } = made(files)
  const lines = [
    ...notes.map(({ place, note }) => `${place} ${note}`),
    ...losses.map(
      ({ place, what, reason, closed }) => `${place} ${what}${closed ? " closed" : ""}: ${reason}`,
    ),
    `${counts.policiesConverted} of ${counts.policies} policies, ${counts.converted} of ${counts.expressions} expressions`,
  ]
  return `${lines.join("\n")}\n`
}

// The text of each document, and what it leaves to be done.
runCases("policy-convert", { diagnostics: () => "", text: (files) => made(files).text, left })
