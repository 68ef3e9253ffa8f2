import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CHART } from './support/paths.ts'
import { borrowedDefinitions } from './support/values-schema.ts'

const FILE = join(CHART, 'values.schema.json')

/** `npx vitest run --project chart -u` regenerates them. */
it('uses the types of Kubernetes, Prometheus and the ClusterAccount unchanged', async () => {
  const schema = JSON.parse(await readFile(FILE, 'utf8')) as object
  const text = `${JSON.stringify({ ...schema, definitions: await borrowedDefinitions() }, null, 2)}\n`
  await expect(text).toMatchFileSnapshot(FILE)
})
