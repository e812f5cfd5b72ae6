import type { DocumentObject, DocumentValue } from "../../api.ts"
import { examplesOf, type NamedExample, objectOf } from "./document.ts"
import { Markdown } from "./markdown.tsx"
import { Schema, TypeLine } from "./schema.tsx"

/** The media types of a body, each with its schema and its examples. */
export function Contents(props: {
  readonly contents: readonly (readonly [string, DocumentValue])[]
  readonly schemas: DocumentObject
}) {
  return (
    <>
      {props.contents.map(([type, content]) => (
        <div key={type} class="content">
          <p class="quiet">
            <code>{type}</code> <TypeLine schema={objectOf(content)["schema"]} schemas={props.schemas} />
          </p>
          <Schema schema={objectOf(content)["schema"]} schemas={props.schemas} />
          {examplesOf(objectOf(content)).map((example) => (
            <Example key={example.title} example={example} />
          ))}
        </div>
      ))}
    </>
  )
}

function Example({ example: { title, description, value } }: { readonly example: NamedExample }) {
  return (
    <details>
      <summary>{title === undefined ? "Example" : `Example: ${title}`}</summary>
      {description !== undefined && <Markdown text={description} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what is wider than the page. */}
      <pre tabIndex={0}>
        <code>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</code>
      </pre>
    </details>
  )
}
