/** What a check was asked to say beside its outcome; undefined when nothing, which is nearly always. */
export function resultFields(
  {
    missingContext,
    explanation,
  }: {
    readonly missingContext?: readonly string[] | undefined
    readonly explanation?: object | undefined
  },
  { explain, ternary }: { readonly explain?: boolean | undefined; readonly ternary?: boolean | undefined },
): object | undefined {
  if (explain !== true && ternary !== true) return undefined
  return {
    ...(ternary === true && {
      conditional: missingContext !== undefined,
      missing_context: missingContext ?? [],
    }),
    ...(explanation !== undefined && { explanation }),
  }
}
