import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProgram } from '../../../controlplane/run-program.ts'

/** Files by their paths; null removes one. */
export type Files = Readonly<Record<string, string | null>>

const WITHOUT_SETTINGS = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'author',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'author',
  GIT_COMMITTER_EMAIL: 'author@example.com',
}

/** A Git repository with the branch `main`. */
export class Repository implements AsyncDisposable {
  readonly folder: string
  #head = ''

  private constructor(folder: string) {
    this.folder = folder
  }

  static async create(): Promise<Repository> {
    const repository = new Repository(await mkdtemp(join(tmpdir(), 'culvert-repository-')))
    await repository.#git('init', '--quiet', '--initial-branch', 'main')
    return repository
  }

  /** The newest commit. */
  get head(): string {
    return this.#head
  }

  async commit(files: Files): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path)
      await mkdir(dirname(file), { recursive: true })
      if (text === null) await rm(file)
      else await writeFile(file, text)
    }
    await this.#git('add', '--all')
    await this.#committed('commit', '--quiet', '--allow-empty', '--message', 'Change what is applied')
  }

  /** Takes the newest commit back. */
  async revert(): Promise<void> {
    await this.#committed('revert', '--no-edit', 'HEAD')
  }

  /** Writes the files of the newest commit into an archive. */
  async archive(path: string): Promise<void> {
    await this.#git('archive', '--format=tar.gz', '--output', path, 'HEAD')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true })
  }

  async #committed(...args: readonly string[]): Promise<void> {
    await this.#git(...args)
    this.#head = (await this.#git('rev-parse', 'HEAD')).trim()
  }

  async #git(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, ...WITHOUT_SETTINGS }
    const { code, stdout, stderr } = await runProgram('git', args, { cwd: this.folder, env })
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`)
    return stdout
  }
}
