//! `patchwright ir`: what a C file is in the IR.

use std::{collections::BTreeSet, ffi::OsString, io::ErrorKind, path::PathBuf};

use clap::Args;
use patchwright_ir::{Function, drawing::control_flow, print_function, print_module};
use patchwright_report::svg;

use crate::{Exit, cached::CacheArgs, drawing::Canvas, sources};

/// Flags of `patchwright ir`.
#[derive(Args, Debug)]
pub struct IrArgs {
    /// The C file
    #[arg(value_name = "FILE")]
    pub source: OsString,

    /// Print only this function
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub function: Option<String>,

    /// Draw the function's control flow: .svg or .dot
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub graph: Option<PathBuf>,

    /// Give these flags to the compiler
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Program"
    )]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,
}

/// Runs `patchwright ir`: prints the IR of a C file, or draws a function. Returns the exit status.
pub fn run(args: &IrArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
    }
}

fn try_run(args: &IrArgs) -> Result<Exit, String> {
    let canvas = args.graph.as_deref().map(Canvas::new).transpose();
    let canvas = canvas.map_err(|e| e.to_string())?;
    let sources = sources::lower(
        std::slice::from_ref(&args.source),
        args.cflags.as_deref(),
        &args.cache,
    )?;
    let module = &sources[0].module;
    let defined: Vec<&Function> = module.functions.iter().filter(|f| f.is_defined()).collect();
    let named = |name: &str| {
        let found = defined.iter().find(|function| function.name == name);
        found.copied().ok_or_else(|| {
            let names = names(&defined);
            format!("no function `{name}` is defined in this file; defined are: {names}")
        })
    };
    let function = args.function.as_deref().map(named).transpose()?;
    let shown: Vec<&Function> = match function {
        Some(function) => vec![function],
        None => defined.clone(),
    };
    if let Some(canvas) = canvas {
        let &[function] = &shown[..] else {
            let names = names(&defined);
            return Err(format!(
                "--graph draws one function; name it with --function, one of: {names}"
            ));
        };
        let drawing = svg::control_flow(&control_flow(function));
        let written = canvas.write(&drawing, &function.name);
        written.map_err(|e| e.to_string())?;
    } else {
        let text = match function {
            Some(function) => print_function(function),
            None => print_module(module),
        };
        match crate::out::write(&text) {
            // Whoever reads it has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.map_err(|e| e.to_string())?,
        }
    }
    let missing: BTreeSet<(&str, &str)> = shown
        .iter()
        .flat_map(|function| {
            function
                .unsupported()
                .map(|reason| (&*function.name, reason))
        })
        .collect();
    for (function, reason) in &missing {
        eprintln!("patchwright: {function}: not supported: {reason}");
    }
    Ok(if missing.is_empty() {
        Exit::Found
    } else {
        Exit::Nothing
    })
}

fn names(functions: &[&Function]) -> String {
    let names: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    names.join(", ")
}
