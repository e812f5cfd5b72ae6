import { useSignal } from "@preact/signals"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Badge, Failed, Loading, PageHead, Panel, Table } from "../../../control/console/page/parts/basic.tsx"
import { addressOf, place } from "../../../control/console/page/router.ts"
import type { DocumentObject, DocumentValue, ExampleLanguage, OperationAnswer } from "../../api.ts"
import { Contents } from "../parts/contents.tsx"
import { examplesOf, listOf, objectOf, resolved, wordOf } from "../parts/document.ts"
import { Markdown } from "../parts/markdown.tsx"
import { Marks, Members, TypeLine, Values } from "../parts/schema.tsx"
import { Security } from "../parts/security.tsx"
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
            <Security found={found} />
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
      <Table label="Parameters" columns={["Name", "In", "Type"]}>
        {parameters.map((each) => (
          <tr key={`${String(each["in"])} ${String(each["name"])}`}>
            <th scope="row">
              <code>{String(each["name"])}</code>{" "}
              {each["required"] === true && <span class="required">required</span>} <Marks schema={each} />
            </th>
            <td>{String(each["in"])}</td>
            <td>
              <TypeLine schema={schemaOf(each)} schemas={schemas} />
              <AboutParameter parameter={each} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

/** The schema of a parameter or header; that of its content, if it has one. */
function schemaOf(part: DocumentObject): DocumentValue | undefined {
  const [content] = Object.values(objectOf(part["content"]))
  return part["schema"] ?? objectOf(content)["schema"]
}

function AboutParameter({ parameter }: { readonly parameter: DocumentObject }) {
  const description = wordOf(parameter["description"])
  const [content] = Object.values(objectOf(parameter["content"]))
  const examples = [...examplesOf(parameter), ...examplesOf(objectOf(content))]
  return (
    <>
      {description !== undefined && <Markdown text={description} />}
      {examples.map(({ title, value }) => (
        <p key={title} class="quiet">
          <Values words={title === undefined ? "for example" : `${title}:`} values={[value]} />
        </p>
      ))}
    </>
  )
}

function Body({ found: { operation, schemas } }: { readonly found: OperationAnswer }) {
  const body = resolved(operation["requestBody"], schemas)
  const contents = Object.entries(objectOf(body["content"]))
  if (contents.length === 0) return null
  const description = wordOf(body["description"])
  return (
    <Panel title="Body" aside={body["required"] === true ? "required" : undefined}>
      {description !== undefined && <Markdown text={description} />}
      <Contents contents={contents} schemas={schemas} />
    </Panel>
  )
}

function Responses({ found: { operation, schemas, responses: named } }: { readonly found: OperationAnswer }) {
  const responses = Object.entries(objectOf(operation["responses"]))
  if (responses.length === 0) return null
  return (
    <Panel title="Responses">
      {responses.map(([status, value]) => (
        <Response key={status} status={status} response={resolved(value, named)} schemas={schemas} />
      ))}
    </Panel>
  )
}

function Response(props: {
  readonly status: string
  readonly response: DocumentObject
  readonly schemas: DocumentObject
}) {
  const { status, response, schemas } = props
  const description = wordOf(response["description"])
  const headers = Object.entries(objectOf(response["headers"]))
  const head = (
    <>
      <h3>
        <code>{status}</code>
      </h3>
      {description !== undefined && <Markdown text={description} />}
    </>
  )
  const body = (
    <>
      <Contents contents={Object.entries(objectOf(response["content"]))} schemas={schemas} />
      {headers.length > 0 && (
        <details>
          <summary>Headers: {headers.map(([name]) => name).join(", ")}</summary>
          <Members
            members={headers.map(([name, header]) => headerMember(name, objectOf(header)))}
            schemas={schemas}
          />
        </details>
      )}
    </>
  )
  // Errors have the same few members everywhere.
  const isFolded = /^[45]/.test(status)
  return (
    <section class="response" aria-label={`Response ${status}`}>
      {isFolded ? (
        <details>
          <summary>
            <span class="response-head">{head}</span>
          </summary>
          {body}
        </details>
      ) : (
        <>
          <div class="response-head">{head}</div>
          {body}
        </>
      )}
    </section>
  )
}

/** A header as a member: its schema, with what the header itself says. */
function headerMember(name: string, header: DocumentObject) {
  const { description, deprecated, required } = header
  const value = {
    ...objectOf(schemaOf(header)),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
  }
  return { name, value, required: required === true }
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
