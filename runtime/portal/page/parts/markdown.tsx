import { lexer, type Token, type Tokens } from "marked"
import type { ComponentChildren } from "preact"

/** Text in Markdown (CommonMark, with tables). HTML in it is shown as text: nothing is inserted as HTML. */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="prose">{blocks(lexer(text))}</div>
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => <Block key={at} token={token as Tokens.Generic} />)
}

function Block({ token }: { readonly token: Tokens.Generic }) {
  const inner = token.tokens ?? []
  switch (token.type) {
    case "heading": {
      // The title of the page is the only heading of the first level.
      const Level = `h${Math.min(6, Number(token["depth"]) + 1)}` as "h2"
      return <Level>{spans(inner)}</Level>
    }
    case "paragraph":
      return <p>{spans(inner)}</p>
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what is wider than the page.
        <pre tabIndex={0}>
          <code>{String(token["text"])}</code>
        </pre>
      )
    case "blockquote":
      return <blockquote>{blocks(inner)}</blockquote>
    case "list":
      return <List token={token as Tokens.List} />
    case "table":
      return <Table token={token as Tokens.Table} />
    case "hr":
      return <hr />
    case "space":
    case "def":
      return null
    case "text":
      return <>{inner.length > 0 ? spans(inner) : unescaped(String(token["text"]))}</>
    default:
      return <p>{token.raw}</p>
  }
}

function List({ token }: { readonly token: Tokens.List }) {
  const items = token.items.map((item, at) => (
    <li key={at}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="done" />}
      {blocks(item.tokens)}
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token }: { readonly token: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what is wider than the page.
    <section class="scroll" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at}>{spans(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{spans(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function spans(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => <Span key={at} token={token as Tokens.Generic} />)
}

function Span({ token }: { readonly token: Tokens.Generic }) {
  const inner = token.tokens ?? []
  switch (token.type) {
    case "strong":
      return <strong>{spans(inner)}</strong>
    case "em":
      return <em>{spans(inner)}</em>
    case "del":
      return <del>{spans(inner)}</del>
    case "codespan":
      return <code>{unescaped(String(token["text"]))}</code>
    case "br":
      return <br />
    case "link":
      if (!isSafe(String(token["href"]))) return <>{spans(inner)}</>
      return <a href={String(token["href"])}>{spans(inner)}</a>
    // The policy allows images of the portal only, so an image is its text.
    case "image":
      return <>{String(token["text"])}</>
    case "text":
    case "escape":
      return <>{inner.length > 0 ? spans(inner) : unescaped(String(token["text"]))}</>
    default:
      return <>{token.raw}</>
  }
}

/** Links of other schemes could run scripts. */
function isSafe(href: string): boolean {
  return (
    URL.canParse(href, location.href) &&
    ["http:", "https:", "mailto:"].includes(new URL(href, location.href).protocol)
  )
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
}

/** The lexer escapes some characters for HTML, which is not made here. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (each) => entities[each] ?? each)
}
