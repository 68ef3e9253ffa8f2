import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { CHART } from '../../support/paths.ts'
import type { InstalledCluster } from './installed-cluster.ts'

/** A chart of an earlier release. */
export interface OlderChart {
  readonly version: string
  /** Folder with its CRDs. */
  readonly crds: string
  /** Removes what it does not have yet, by the file of a CRD. */
  readonly without: Readonly<Record<string, (schema: Schema) => Schema>>
  /** Templates that it still had, by name. */
  readonly templates?: Readonly<Record<string, string>>
}

/** The OpenAPI schema of a CRD's only version. */
export type Schema = Readonly<Record<string, unknown>>

/** Packs a chart, or a copy of the chart `culvert` with older CRDs; returns the archive. */
export async function packChart(
  cluster: InstalledCluster,
  major: 3 | 4,
  source: string | OlderChart = CHART,
): Promise<string> {
  const target = await mkdtemp(join(cluster.folder, 'chart-'))
  const chart = typeof source === 'string' ? source : await olderChart(target, source)
  await cluster.helmed(major, ['package', chart, '--destination', target])
  const archive = (await readdir(target)).find((file) => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error('helm package made no archive')
  return join(target, archive)
}

async function olderChart(folder: string, older: OlderChart): Promise<string> {
  const { version, crds, without, templates = {} } = older
  const chart = join(folder, 'culvert')
  await cp(CHART, chart, { recursive: true })
  const about = join(chart, 'Chart.yaml')
  await writeFile(about, (await readFile(about, 'utf8')).replace(/^(version|appVersion): .*$/gm, `$1: ${version}`))
  await cp(crds, join(chart, 'files', 'crds'), { recursive: true })
  await olderCRDs(join(chart, 'files', 'crds'), without)
  for (const [name, text] of Object.entries(templates)) await writeFile(join(chart, 'templates', name), text)
  return chart
}

/** Removes from the CRDs in a folder what an earlier release does not have. */
export async function olderCRDs(folder: string, without: OlderChart['without']): Promise<void> {
  for (const [file, change] of Object.entries(without)) {
    const path = join(folder, file)
    const crd = parse(await readFile(path, 'utf8')) as CRD
    for (const version of crd.spec.versions) version.schema.openAPIV3Schema = change(version.schema.openAPIV3Schema)
    // The chart inserts labels and annotations at the top of `metadata:`.
    await writeFile(path, stringify(crd, { lineWidth: 0 }))
  }
}

interface CRD {
  readonly spec: { readonly versions: { readonly schema: { openAPIV3Schema: Schema } }[] }
}
