import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COVERAGE_TABLE, coverageOf } from './coverage-page.ts'

/** `npm run coverage:api`: writes each fact of the API with the tests that hold both sides to it. */
const root = fileURLToPath(new URL('..', import.meta.url))
const { table } = await coverageOf(root)
const path = join(root, COVERAGE_TABLE)
await mkdir(dirname(path), { recursive: true })
await writeFile(path, table)
console.log(COVERAGE_TABLE)
