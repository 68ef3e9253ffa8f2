import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ACCOUNT_CHART, CHART } from './support/paths.ts'
import { borrowedDefinitions, clusterAccountSpec } from './support/values-schema.ts'

/** `npx vitest run --project chart -u` regenerates them. */
it.each([
  ['Kubernetes and Prometheus', CHART, borrowedDefinitions],
  ['the ClusterAccount', ACCOUNT_CHART, () => ({ ClusterAccountSpec: clusterAccountSpec() })],
])('uses the types of %s unchanged', async (_what, chart, definitions) => {
  const file = join(chart, 'values.schema.json')
  const schema = JSON.parse(await readFile(file, 'utf8')) as object
  const text = `${JSON.stringify({ ...schema, definitions: await definitions() }, null, 2)}\n`
  await expect(text).toMatchFileSnapshot(file)
})
