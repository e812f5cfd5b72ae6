import { Report } from "../core/diagnostic.ts"
import type { SourceFile } from "../core/source.ts"
import type { ModelDocument } from "../model/ast.ts"
import { parseModel } from "../model/document.ts"
import { ModelMistakes } from "../model/mistakes.ts"

/** A model in OpenFGA's language, as parsed. */
export interface ParsedModel {
  readonly file: SourceFile
  readonly document: ModelDocument
}

const known = new WeakMap<SourceFile, ModelDocument>()

/** The files of the models of a project. Each is parsed at the first question after its text has changed. */
export class ParsedModels {
  readonly #files: readonly SourceFile[]

  constructor(files: readonly SourceFile[]) {
    this.#files = files
  }

  get documents(): readonly ParsedModel[] {
    return this.#files.map((file) => ({ file, document: documentOf(file) }))
  }
}

function documentOf(file: SourceFile): ModelDocument {
  let document = known.get(file)
  if (document === undefined) {
    document = parseModel(new ModelMistakes(file, new Report()))
    known.set(file, document)
  }
  return document
}
