import { area } from "./entry.ts"

/** SP0xxx: files and their encoding. */
export const files = area({
  SP0001: {
    severity: "error",
    title: "File not found",
    help: "Check the path, it is relative to the file that names it.",
    why: "Paths in a file start from the folder of that file and use `/` on every system. Letter case counts, even where the disk ignores it: the project should compile the same everywhere.",
  },
  SP0002: {
    severity: "error",
    title: "File outside the project",
    help: "Move the file into the project's folder and name it by a relative path.",
    why: "A plan must be the same for everyone who has the folder. Absolute paths, paths that climb out with `..` and symbolic links that lead out would make it depend on the machine, and would let a shared file pull in private ones.",
  },
  SP0003: {
    severity: "error",
    title: "Not a regular file",
    help: "Name a file with text in it.",
    why: "Folders, devices, sockets and pipes are never read: a pipe can block for ever, a device can deliver without end.",
  },
  SP0004: {
    severity: "error",
    title: "File cannot be read",
    help: "Check the permissions of the file and of the folders above it.",
    why: "The operating system refused to open or read the file. Nothing is compiled from a project that was read only in part.",
  },
  SP0005: {
    severity: "error",
    title: "File too large",
    help: "Split the file into several that name each other.",
    why: "One file may have 4 MiB, an OpenAPI document 32 MiB unless `size` behind `openapi` says otherwise. Every input has a budget, so that a wrong path or a generated file cannot exhaust the memory of the compiler.",
  },
  SP0006: {
    severity: "error",
    title: "Project too large",
    help: "Split the project, or include fewer files.",
    why: "All files of a project together may have 128 MiB, and there may be 2,000 of them.",
  },
  SP0007: {
    severity: "error",
    title: "File is not valid UTF-8",
    help: "Save the file as UTF-8.",
    why: "Bytes that are not UTF-8 are not replaced by a guess: a name or a secret's variable could silently become another one. A byte order mark at the start of a UTF-8 file is skipped.",
  },
  SP0008: {
    severity: "error",
    title: "File is UTF-16 or UTF-32",
    help: "Save the file as UTF-8.",
    why: "Some editors and shells write UTF-16 by default (PowerShell 5 does with `>`). Every file here is UTF-8.",
  },
  SP0009: {
    severity: "error",
    title: "File is binary",
    help: "Check the path: a text file is expected here.",
    why: "The file holds NUL bytes, which no text has. It is probably an archive, an image or a program.",
  },
  SP0010: {
    severity: "error",
    title: "Include cycle",
    help: "Remove one of the `include` statements.",
    why: "A file that includes itself, directly or through others, has no beginning.",
  },
  SP0011: {
    severity: "error",
    title: "File included twice",
    help: "Keep one of the `include` statements.",
    why: "A second inclusion would declare everything in the file a second time. The file is read once, at its first `include`.",
  },
  SP0012: {
    severity: "warning",
    title: "Pattern matches no file",
    help: "Check the pattern, or remove the statement.",
    why: "`*` stands for any characters but `/`, `?` for one, `**` for any folders. Files and folders whose names start with a dot are not matched. A folder may be empty on purpose, so this does not keep a plan from being made.",
  },
  SP0013: {
    severity: "error",
    title: "Include without a path",
    help: 'Write `include "models/teams/orders.conf"`.',
    why: "`include` takes one text: a path or a pattern, relative to the file it stands in. It holds no `${…}`, because which files belong to a project must not depend on values.",
  },
  SP0014: {
    severity: "error",
    title: "Unresolved merge conflict",
    help: "Keep one side or join the two, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`.",
    why: "Git writes these lines around the two versions of what it could not merge. The file is not read with both of them in it, so that nothing is declared twice and no other finding follows.",
  },
})
