// Packs the extension for VS Code: `node compiler/editor/pack.mjs [FOLDER]` writes sallyport-VERSION.vsix there (default: dist). A .vsix file is a
// zip with a manifest for the marketplace, content types, and the folder `extension`. The same sources give the same bytes.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { strToU8, zipSync } from "fflate"

const root = fileURLToPath(new URL("../../", import.meta.url))
const editor = join(root, "compiler/editor")
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"))
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
/** The first time that a zip can have. */
const mtime = new Date("1980-01-01T12:00:00")

/** The files of the extension by their paths in the .vsix file, as bytes. */
async function extensionFiles() {
  const { version, license, engines: _, ...own } = readJson("package.json")
  const manifest = {
    name: own.name,
    version,
    license,
    ...readJson("compiler/editor/extension/manifest.json"),
  }
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["compiler/editor/extension/extension.ts"],
    bundle: true,
    write: false,
    outfile: "extension.cjs",
    ...{ platform: "node", format: "cjs", target: "node20", external: ["vscode"] },
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: "inline", logLevel: "error" },
  })
  const files = new Map([
    ["package.json", strToU8(`${JSON.stringify(manifest, undefined, 2)}\n`)],
    ["extension.cjs", outputFiles[0].contents],
    ["README.md", readFileSync(join(root, "compiler/docs/editors.md"))],
    ["LICENSE.txt", readFileSync(join(root, "LICENSE"))],
  ])
  for (const folder of ["grammars", "schemas", "extension/languages", "extension/snippets"])
    for (const name of readdirSync(join(editor, folder))
      .sort()
      .filter((each) => each.endsWith(".json"))) {
      const path = join(editor, folder, name)
      files.set(
        relative(editor, path)
          .replaceAll("\\", "/")
          .replace(/^extension\//, ""),
        readFileSync(path),
      )
    }
  const packed = new Map([
    ["[Content_Types].xml", strToU8(contentTypes())],
    ["extension.vsixmanifest", strToU8(vsixManifest(manifest))],
  ])
  for (const [path, bytes] of files) packed.set(`extension/${path}`, bytes)
  return packed
}

/** Writes the .vsix file into a folder. Returns its path. */
async function pack(folder) {
  const files = await extensionFiles()
  const zip = zipSync(Object.fromEntries([...files].map(([path, bytes]) => [path, [bytes, { mtime }]])), {
    level: 9,
  })
  const path = join(resolve(folder), `sallyport-${readJson("package.json").version}.vsix`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, zip)
  return path
}

function contentTypes() {
  const types = {
    json: "application/json",
    cjs: "application/javascript",
    md: "text/markdown",
    txt: "text/plain",
    vsixmanifest: "text/xml",
  }
  const rows = Object.entries(types).map(
    ([name, type]) => `<Default Extension=".${name}" ContentType="${type}"/>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${rows.join("")}</Types>\n`
}

function vsixManifest({ name, version, publisher, displayName, description, categories, engines }) {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Categories>${categories.map(escaped).join(",")}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escaped(engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`
}

console.log(await pack(process.argv[2] ?? join(root, "dist")))
