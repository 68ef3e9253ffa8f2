import { fileURLToPath } from 'node:url'
import { kinds } from '../src/kinds/index.ts'
import { KindsRegistry } from '../src/managed/kinds-registry.ts'
import { admissionFiles } from './admission-files.ts'
import { CHART_PAGE, chartPage } from './chart-page.ts'
import { COVERAGE_PAGE, coveragePage } from './coverage-page.ts'
import { DECISIONS_PAGE, decisionsPage } from './decisions-page.ts'
import { differences, generatedFiles, withAttributes, writeGenerated } from './generated-files.ts'
import { lints } from './lints/all.ts'
import { findingsOf } from './lints/lint.ts'
import { supplyChainFindings } from './lints/supply-chain.ts'
import { PERMISSIONS_PAGE, permissionsPage } from './permissions-page.ts'
import { rbacFiles } from './rbac-files.ts'
import { REASONS_PAGE, reasonsPage } from './reasons-page.ts'

/**
 * Writes `crds/`, `docs/kinds/`, the chart's RBAC and admission rules, and `docs/permissions.md` from the descriptors
 * in `src/kinds`; `docs/internals/api-coverage.md` from the table of facts; `docs/reasons.md` from the reasons of
 * conditions and Events; the chart's README from the comments in its values.yaml; the alternatives in
 * `docs/api-decisions.md` from the table of choices; and `.gitattributes`, which marks all of these. With `--check` it
 * writes nothing and fails, naming every file that is stale, missing or of no kind. Both modes fail, and write nothing,
 * if a kind or the inputs of a release break a rule in `scripts/lints`.
 */
async function main(check: boolean): Promise<number> {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const definitions = kinds.map(({ definition }) => definition)
  const findings = [...findingsOf(definitions, lints), ...(await supplyChainFindings(root))]
  if (findings.length > 0) {
    for (const { place, problem } of findings) console.log(`${place}: ${problem}`)
    return 1
  }
  const registry = new KindsRegistry(kinds)
  const permissions = new Map([
    ...rbacFiles(registry),
    ...admissionFiles(registry),
    [PERMISSIONS_PAGE, permissionsPage(registry)],
  ])
  const files = withAttributes(
    new Map([
      ...(await generatedFiles(kinds, root)),
      ...permissions,
      [COVERAGE_PAGE, coveragePage()],
      [CHART_PAGE, await chartPage(root)],
      [REASONS_PAGE, reasonsPage()],
      [DECISIONS_PAGE, await decisionsPage(root)],
    ]),
  )
  const { stale, missing, extra } = check ? await differences(files, root) : await writeGenerated(files, root)
  report(check ? 'stale' : 'rewritten', stale)
  report(check ? 'missing' : 'created', missing)
  report('of no kind: remove it', extra)
  const wrong = check ? stale.length + missing.length + extra.length : extra.length
  console.log(wrong === 0 ? `${files.size} generated files are up to date` : remedy(check))
  return wrong === 0 ? 0 : 1
}

function remedy(check: boolean): string {
  return check
    ? 'Run `npm run generate` and commit the result.'
    : 'Files of no kind remain: they carry no mark of the generator.'
}

function report(what: string, paths: readonly string[]): void {
  for (const path of paths) {
    console.log(`${path}: ${what}`)
  }
}

process.exitCode = await main(process.argv.includes('--check'))
