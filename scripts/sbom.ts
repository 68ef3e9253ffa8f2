import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { productionSbom, type Sbom } from './sbom-document.ts'

/**
 * Prints the bill of materials (CycloneDX, JSON) of Culvert's production packages: `node scripts/sbom.ts >
 * culvert.cdx.json`.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })
console.log(JSON.stringify(await productionSbom(JSON.parse(stdout) as Sbom, root), null, 2))
