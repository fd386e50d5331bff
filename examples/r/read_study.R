# Read what a graphveil study has published, check its chain, and draw a series. Base R, with
# jsonlite for JSON and digest for hashes:
#
#     Rscript read_study.R my-study/public

read_table <- function(folder, name) {
  # The data package says what each column is; nothing is guessed from its values.
  package <- jsonlite::read_json(file.path(folder, "datapackage.json"))
  resource <- Filter(function(each) each$name == name, package$resources)[[1]]
  types <- c(string = "character", integer = "numeric", number = "numeric")
  fields <- resource$schema$fields
  classes <- vapply(fields, function(each) types[[each$type]], character(1))
  names(classes) <- vapply(fields, function(each) each$name, character(1))
  read.csv(file.path(folder, resource$path), colClasses = classes, na.strings = "",
           check.names = FALSE, encoding = "UTF-8")
}

chain_head <- function(folder) {
  # Each row carries the hash of the row before it; a changed, removed or inserted row is noticed.
  previous <- strrep("0", 64)
  for (line in readLines(file.path(folder, "ledger.jsonl"), encoding = "UTF-8")) {
    row <- jsonlite::fromJSON(line, simplifyVector = FALSE)
    text <- sub(sprintf('"hash":"%s",', row$hash), "", line, fixed = TRUE)
    stated <- digest::digest(enc2utf8(text), algo = "sha256", serialize = FALSE)
    if (row$previous != previous || row$hash != stated) stop("row ", row$number, " was changed")
    previous <- row$hash
  }
  previous
}

draw <- function(releases, series, file) {
  rows <- releases[releases$series == series, ]
  svg(file, width = 7, height = 4)
  on.exit(dev.off())
  low <- pmax(rows$low, 0)
  plot(rows$step, rows$processed, type = "o", pch = 16, xaxt = "n", xlab = "", ylab = series,
       ylim = range(low, rows$high))
  axis(1, at = rows$step, labels = rows$label)
  arrows(rows$step, low, rows$step, rows$high, angle = 90, code = 3, length = 0.03)
}

folder <- commandArgs(trailingOnly = TRUE)[1]
releases <- read_table(folder, "releases")
newest <- releases[releases$step == max(releases$step), ]
print(newest[, c("series", "label", "raw", "low", "high")], row.names = FALSE)
draw(releases, releases$series[1], file.path(tempdir(), "series.svg"))
cat("chain:", chain_head(folder), "\n")
