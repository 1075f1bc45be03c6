/** The programs tests run against that are built from Go modules: which, and how to know them. */

/** A module and the programs taken from it. */
interface GoModule {
  readonly path: string;
  /** Program → its package. */
  readonly programs: Readonly<Record<string, string>>;
  /** Version → hash of the module (`h1:` as in go.sum), so that a proxy cannot serve another. */
  readonly versions: Readonly<Record<string, string>>;
}

const HEADSCALE: GoModule = {
  path: "github.com/juanfont/headscale",
  programs: { headscale: "github.com/juanfont/headscale/cmd/headscale" },
  versions: {
    // The last with the old routes API, the first line with approve_routes, the current one.
    "0.25.1": "h1:Xp/cbtrwDiCb1FKsyMr3UAiY6VY8De/o/QfB7TXf8sQ=",
    "0.26.1": "h1:WTvvxKtN94jut3Rk8hJPwjK2MdzcFPtrcrMHqlUJGa4=",
    "0.29.2": "h1:eW7zz5yiVlSP1+5zUgPM2YWOoSNkzgX0wBMt5T4zF9g=",
  },
};

const TAILSCALE: GoModule = {
  path: "tailscale.com",
  programs: {
    tailscaled: "tailscale.com/cmd/tailscaled",
    tailscale: "tailscale.com/cmd/tailscale",
  },
  versions: { "1.102.3": "h1:M1czCAtMuIcg+2Z+FBPbJyAk3ZEQGEFKnvHthtE1c6M=" },
};

/** One program of one version. */
export interface GoPart {
  /** Name of the program, `tailscaled`. */
  readonly name: string;
  /** Without the `v` of Go. */
  readonly version: string;
  /** The package that makes the program; it is in the module. */
  readonly package: string;
  readonly module: string;
  readonly moduleSum: string;
}

/** Every part, in the order they are built: what most tests wait for first. */
export const GO_PARTS: readonly GoPart[] = [TAILSCALE, HEADSCALE].flatMap((module) =>
  Object.entries(module.versions).reverse().flatMap(([version, moduleSum]) =>
    Object.entries(module.programs).map(([name, path]) => ({
      name,
      version,
      package: path,
      module: module.path,
      moduleSum,
    }))
  )
);

/** The versions of Headscale the tests run against, oldest first. */
export const HEADSCALE_VERSIONS: readonly string[] = Object.keys(HEADSCALE.versions);

/** The version of tailscaled and tailscale the tests run against. */
export const TAILSCALE_VERSION = "1.102.3";
