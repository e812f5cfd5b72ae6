import type { StepOf } from "../../runtime/plan/steps.ts"

type Content = StepOf<"validate-content">["types"][number]

/** A media type without its parameters. */
function essenceOf(media: string): string {
  return (media.split(";", 1)[0] ?? "").trim()
}

/**
 * What judges JSON of the type of `own`, of which a place says no schema: those of `known`, what the document of the operation describes, else its form alone. A document that describes the type with
 * parameters only (`application/json;v=1`) describes no other: a request that leaves them out would get past all schemas, so it is of a type that is not expected. An answer may be of a status
 * nobody describes.
 */
export function describedContents(
  known: readonly Content[],
  own: Content,
  message: "request" | "response",
): { readonly contents: readonly Content[]; readonly isDescribed: boolean } {
  const described = known.filter(
    ({ as, schema, media }) =>
      as === "json" && schema !== undefined && essenceOf(media) === essenceOf(own.media),
  )
  const isDescribed = described.length > 0
  const contents = described.map((each) => ({ ...each, action: own.action }))
  return { contents: isDescribed && message === "request" ? contents : [...contents, own], isDescribed }
}
