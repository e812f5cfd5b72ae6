/**
 * Parts of a model whose text was not understood: they exist, but what they say is not known. No finding may rest on them,
 * or one mistake would be reported many times.
 */
export interface BrokenParts {
  /** `type#relation` of relations whose definition is not known. */
  readonly relations: ReadonlySet<string>
  /** Conditions whose parameters or expression are not known. */
  readonly conditions: ReadonlySet<string>
  /** There are types whose name is not known: any name may be one. */
  readonly types: boolean
}
