import type { Span } from "../../core/source.ts"
import type { PlanSchemas } from "../../openapi/plan-schemas.ts"
import type { Direction } from "../../openapi/schema.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { SchemaFiles } from "../schema-files.ts"

/** How a schema of a file is meant. */
export interface SchemaUse {
  /** Where it is asked for. */
  readonly said: Span
  /** Where in the file it is: `#/components/schemas/Order`; undefined: the file is one. */
  readonly ref: string | undefined
  readonly message: Direction
  readonly overrides: SchemaOverrides
}

/** Schemas of files that statements name, as schemas of the plan. */
export class BodySchemas {
  readonly #files: SchemaFiles
  readonly #schemas: PlanSchemas

  constructor(files: SchemaFiles, schemas: PlanSchemas) {
    this.#files = files
    this.#schemas = schemas
  }

  /** Ids that `xml { schema … }` gives. */
  get ids(): Iterable<string> {
    return this.#files.byId.keys()
  }

  /** The schema of a statement `schema "FILE"`; undefined where there is none (reported). */
  of(statement: BoundStatement, { said, ref, message, overrides }: SchemaUse): string | undefined {
    const document = this.#files.documents.get(statement)
    const key = document?.key(ref, said)
    return document === undefined || key === undefined
      ? undefined
      : this.#schemas.use(document.schemas, key, message, overrides)
  }

  /** The schema documents know by an id; null where none has it. */
  named(id: string, use: SchemaUse): string | undefined | null {
    const statement = this.#files.byId.get(id)
    return statement === undefined ? null : this.of(statement, use)
  }
}
