import {
  type Context,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  Value,
} from "liquidjs"

/**
 * `{% JSONArrayFor item in list %}…{% endJSONArrayFor %}` of Azure API Management: a `for` that writes commas between its iterations. A list in XML is
 * an element with children of one name, possibly only one: such an element is the list of its children. Any other element is a list of one item.
 */
export class JsonArrayFor extends Tag {
  readonly #variable: string
  readonly #list: Value
  readonly #templates: Template[] = []

  constructor(token: TagToken, rest: TopLevelToken[], engine: Liquid, parser: Parser) {
    super(token, rest, engine)
    const [, variable, list] = /^\s*([\w-]+)\s+in\s+([\s\S]+)$/.exec(token.args) ?? []
    if (variable === undefined || list === undefined) throw new Error("write `JSONArrayFor item in list`")
    this.#variable = variable
    this.#list = new Value(list, engine)
    const stream = parser
      .parseStream(rest)
      .on("tag:endJSONArrayFor", () => stream.stop())
      .on("template", (template: Template) => this.#templates.push(template))
      .on("end", () => {
        throw new Error(`tag ${token.getText()} not closed`)
      })
    stream.start()
  }

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const items = itemsOf(yield this.#list.value(context))
    for (const [index, item] of items.entries()) {
      if (index > 0) emitter.write(",")
      context.push({ [this.#variable]: item, forloop: loopOf(index, items.length) })
      yield this.liquid.renderer.renderTemplates(this.#templates, context, emitter)
      context.pop()
    }
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value === null || value === undefined || value === "") return []
  if (typeof value !== "object") return [value]
  const [only, ...others] = Object.entries(value).flatMap(([name, each]) =>
    name.startsWith("xmlns") ? [] : [each],
  )
  if (others.length > 0 || typeof only !== "object") return [value]
  return Array.isArray(only) ? only : only === null ? [] : [only]
}

function loopOf(index0: number, length: number): object {
  return {
    ...{ index0, index: index0 + 1, length, rindex0: length - index0 - 1, rindex: length - index0 },
    ...{ first: index0 === 0, last: index0 === length - 1 },
  }
}
