import { join } from 'node:path'
import { createVitest } from 'vitest/node'

/**
 * The full names of the tests in these files, `<file> > <describe> > <title>`, as vitest collects them: the files are
 * loaded and their tables expanded, but no test runs. Paths are relative to `test/`.
 */
export async function collectedTests(files: readonly string[], root: string): Promise<ReadonlySet<string>> {
  const vitest = await createVitest('test', {
    root,
    config: false,
    watch: false,
    // The tags are those of the configuration, which is not read.
    strictTags: false,
    include: files.map((file) => join('test', file)),
    // The files are only loaded, so they may share modules.
    isolate: false,
    pool: 'threads',
    // Values in titles are not truncated.
    taskTitleValueFormatTruncate: 0,
    reporters: [{}],
  })
  try {
    const { testModules, unhandledErrors } = await vitest.collect([], { staticParse: false })
    const broken = testModules.flatMap((file) =>
      file.errors().map(({ message }) => `${file.relativeModuleId}: ${message}`),
    )
    const problems = [...broken, ...unhandledErrors.map(String)]
    if (problems.length > 0) throw new Error(`tests cannot be collected:\n${problems.join('\n')}`)
    const names = testModules.flatMap((file) => {
      const path = file.relativeModuleId.replace(/^test\//, '')
      return [...file.children.allTests()].map(({ fullName }) => `${path} > ${fullName}`)
    })
    return new Set(names)
  } finally {
    await vitest.close()
  }
}
