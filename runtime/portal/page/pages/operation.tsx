import { useSignal } from "@preact/signals"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import {
  Badge,
  Failed,
  Loading,
  PageHead,
  Panel,
  Scroll,
} from "../../../control/console/page/parts/basic.tsx"
import { addressOf, place } from "../../../control/console/page/router.ts"
import type { DocumentValue, ExampleLanguage, OperationAnswer } from "../../api.ts"
import { Markdown } from "../parts/markdown.tsx"
import { listOf, objectOf, resolved, Schema, TypeLine, wordOf } from "../parts/schema.tsx"
import { TryIt } from "../parts/try-it.tsx"
import { textOf } from "../texts.ts"

const languages: readonly (readonly [ExampleLanguage, string])[] = [
  ["curl", "curl"],
  ["javascript", "JavaScript"],
  ["python", "Python"],
  ["go", "Go"],
  ["java", "Java"],
  ["csharp", "C#"],
]

/** One operation: what it takes and returns, how to call it, and a form that calls it. */
export default function Operation() {
  const [, api = "", version = "-", id = ""] = place.value.segments
  const path = [
    "",
    "api",
    "apis",
    ...[api, version].map(encodeURIComponent),
    "operations",
    encodeURIComponent(id),
  ].join("/")
  const { answer, error, reload } = useLoaded<OperationAnswer>(path)
  const found = answer.value
  const description = wordOf(found?.operation["description"])
  return (
    <>
      <p class="crumbs">
        <a href={addressOf([])}>{textOf("nav.apis")}</a> /{" "}
        <a href={addressOf(["apis", api, version])}>{api}</a>
      </p>
      <PageHead
        title={found?.summary ?? id}
        about={
          found && (
            <code>
              {found.method} {found.path}
              {found.template}
            </code>
          )
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined && error.value === undefined && <Loading />}
      {found && (
        <div class="operation">
          <div>
            {found.deprecated && (
              <p>
                <Badge tone="warn">deprecated</Badge>
              </p>
            )}
            {description !== undefined && <Markdown text={description} />}
            <Parameters found={found} />
            <Body found={found} />
            <Responses found={found} />
          </div>
          <div>
            <Examples examples={found.examples} />
            <TryIt key={found.id} found={found} />
          </div>
        </div>
      )}
    </>
  )
}

function Parameters({ found: { operation, schemas } }: { readonly found: OperationAnswer }) {
  const parameters = listOf(operation["parameters"]).map((each) => resolved(each, schemas))
  if (parameters.length === 0) return null
  return (
    <Panel title="Parameters">
      <Scroll label="Parameters">
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>In</th>
              <th>Type</th>
              <th>About</th>
            </tr>
          </thead>
          <tbody>
            {parameters.map((each) => (
              <tr key={`${String(each["in"])} ${String(each["name"])}`}>
                <th scope="row">
                  <code>{String(each["name"])}</code>{" "}
                  {each["required"] === true && <span class="required">required</span>}
                </th>
                <td>{String(each["in"])}</td>
                <td>
                  <TypeLine schema={each["schema"]} schemas={schemas} />
                </td>
                <td>{wordOf(each["description"])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}

function Body({ found: { operation, schemas } }: { readonly found: OperationAnswer }) {
  const body = resolved(operation["requestBody"], schemas)
  const contents = Object.entries(objectOf(body["content"]))
  if (contents.length === 0) return null
  return (
    <Panel title="Body" aside={body["required"] === true ? "required" : undefined}>
      <Contents contents={contents} schemas={schemas} />
    </Panel>
  )
}

function Responses({ found: { operation, schemas, responses: named } }: { readonly found: OperationAnswer }) {
  const responses = Object.entries(objectOf(operation["responses"]))
  if (responses.length === 0) return null
  return (
    <Panel title="Responses">
      {responses.map(([status, value]) => {
        const response = resolved(value, named)
        return (
          <section key={status} aria-label={`Response ${status}`}>
            <h3>
              <code>{status}</code> <span class="quiet">{wordOf(response["description"])}</span>
            </h3>
            <Contents contents={Object.entries(objectOf(response["content"]))} schemas={schemas} />
          </section>
        )
      })}
    </Panel>
  )
}

function Contents(props: {
  readonly contents: readonly (readonly [string, DocumentValue])[]
  readonly schemas: OperationAnswer["schemas"]
}) {
  return (
    <>
      {props.contents.map(([type, content]) => (
        <div key={type}>
          <p class="quiet">
            <code>{type}</code> <TypeLine schema={objectOf(content)["schema"]} schemas={props.schemas} />
          </p>
          <Schema schema={objectOf(content)["schema"]} schemas={props.schemas} />
        </div>
      ))}
    </>
  )
}

function Examples({ examples }: { readonly examples: OperationAnswer["examples"] }) {
  const language = useSignal<ExampleLanguage>("curl")
  const isCopied = useSignal(false)
  const text = examples[language.value]
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        isCopied.value = true
      },
      () => undefined,
    )
  return (
    <Panel title="Example">
      <fieldset class="languages">
        <legend class="unseen">Language</legend>
        {languages.map(([name, title]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === language.value}
            onClick={() => {
              ;[language.value, isCopied.value] = [name, false]
            }}
          >
            {title}
          </button>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what is wider than the page. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={() => void copy()}>
        {isCopied.value ? "Copied" : "Copy"}
      </button>
    </Panel>
  )
}
